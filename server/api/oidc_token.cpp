#include <fmt/format.h>

#include <algorithm>

#include "server/api/handlers.hpp"
#include "server/api/tokens.hpp"
#include "server/http/admission.hpp"
#include "server/oidc/issuers.hpp"
#include "server/wire/timestamp.hpp"

namespace traceweir::api {
namespace {

/// One sentence for a project that is not there, and for one that does not trust the job: anybody can have an id token
/// of a public CI.
tl::unexpected<Error> not_trusted(const oidc::Job& job, const std::string& project) {
  return fail(ErrorCode::forbidden, fmt::format("jobs of {} at {} may not upload to '{}'; its trusted_jobs say who may",
                                                job.repository, job.ref, project));
}

/// Errors: store_unavailable, bad_body (what is stored is not what we wrote).
Result<bool> project_trusts(const std::optional<store::Project>& project, const oidc::Job& job) {
  if (!project || project->trusted_jobs.empty()) return false;
  TRACEWEIR_TRY(json, wire::parse_json(project->trusted_jobs));
  TRACEWEIR_TRY(trusted, oidc::trusted_jobs_of(json));
  return std::any_of(trusted.begin(), trusted.end(), [&](const auto& one) { return oidc::trusts(one, job); });
}

/// The gate uploads, and asks for the verdict: both of this project only.
store::Token token_for(const oidc::Job& job, const std::string& project, const Services& services) {
  store::Token token;
  token.project = project;
  token.scopes.upload = token.scopes.read = true;
  token.note = fmt::format("job {} of {} at {}", job.run, job.repository, job.ref);
  token.created_at = services.now();
  token.expires_at = token.created_at + services.limits.oidc_issued_time_max;
  token.binding = wire::dump(oidc::to_json(job));
  return token;
}

Result<http::Response> exchange(const http::Request& request, Services& services) {
  TRACEWEIR_TRY_VOID(request.query.only({}));
  if (services.issuers.empty())
    return fail(ErrorCode::forbidden,
                "this service issues no tokens to jobs: neither oidc_github_issuers nor oidc_gitlab_issuers is set");
  TRACEWEIR_TRY(id_token, request.bearer_token());
  if (!id_token) return fail(ErrorCode::unauthorized, "the job's id token is needed: Authorization: Bearer …");
  const auto said = services.issuers.job_of(*id_token, services.now());
  if (!said && said.error().code == ErrorCode::unauthorized) request.admission->found_wrong();
  TRACEWEIR_TRY(job, said);
  if (!request.admission->found_valid()) return fail(ErrorCode::unauthorized, "the id token is not looked at");
  const std::string& name = request.param("project");
  TRACEWEIR_TRY(project, services.store.project(name));
  TRACEWEIR_TRY(trusted, project_trusts(project, job));
  if (!trusted) return not_trusted(job, name);
  const store::Token token = token_for(job, name, services);
  TRACEWEIR_TRY(text, issue_token(services.store, token, "oidc " + job.repository));
  return http::respond(http::Status::created, json_type,
                       wire::dump({{"token", text},
                                   {"expires_at", wire::to_rfc3339(*token.expires_at)},
                                   {"project", name},
                                   {"repository", job.repository},
                                   {"ref", job.ref},
                                   {"branch", job.branch.empty() ? wire::Json(nullptr) : wire::Json(job.branch)}}));
}

}  // namespace

/// POST /api/v1/projects/{project}/oidc/token   Authorization: Bearer ID_TOKEN, no body
/// 201 {token, expires_at, project, repository, ref, branch}
boost::asio::awaitable<http::Response> post_oidc_token(http::Request& request, Services& services) {
  // Not on the workers of other requests: an issuer may be slow.
  auto work = [&request, &services] { return exchange(request, services); };
  auto response = co_await services.exchanges.run(work);
  if (!response) co_return http::problem(std::move(response).error());
  co_return *std::move(response);
}

}  // namespace traceweir::api
