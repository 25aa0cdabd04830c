#include <fmt/format.h>

#include "server/api/auth.hpp"
#include "server/api/handlers.hpp"
#include "server/api/query_values.hpp"
#include "server/api/upload_query.hpp"
#include "server/wire/json.hpp"
#include "server/wire/timestamp.hpp"

namespace traceweir::api {
namespace {

using Limit = std::optional<std::int64_t>;

wire::Json number_or_null(const Limit& limit) { return limit ? wire::Json(*limit) : wire::Json(nullptr); }

struct LimitKey {
  const char *group, *key;
  Limit store::Keeping::*limit;
};
constexpr LimitKey limit_keys[] = {{"retention", "trace_days", &store::Keeping::trace_days},
                                   {"retention", "trace_bytes_max", &store::Keeping::trace_bytes_max},
                                   {"quota", "bytes_max", &store::Keeping::stored_bytes_max},
                                   {"quota", "uploads_per_day", &store::Keeping::uploads_per_day_max}};
/// A hundred years in days; any other limit may be so large.
constexpr std::int64_t limit_max = std::int64_t{1} << 53, days_max = 36'500;

wire::Json json_of(const store::Project& project) {
  wire::Json json = {
      {"name", project.name},
      {"mode", store::word(project.mode)},
      {"policy_source", store::word(project.policy_source)},
      {"read_access", store::word(project.read_access)},
      {"trusted_jobs",
       project.trusted_jobs.empty() ? wire::Json::array() : wire::parse_json(project.trusted_jobs).value_or(nullptr)},
      {"created_at", wire::to_rfc3339(project.created_at)}};
  for (const LimitKey& row : limit_keys) json[row.group][row.key] = number_or_null(project.keeping.*row.limit);
  return json;
}

/// What the group leaves out stays; null: as the service is set.
Result<void> set_limits(wire::ObjectReader& in, const char* group, store::Keeping& keeping) {
  const wire::Json* json = in.child(group);
  if (json == nullptr) return {};
  wire::ObjectReader inner(*json);
  for (const LimitKey& row : limit_keys) {
    if (std::string_view(row.group) != group) continue;
    const Limit limit = inner.maybe_integer(row.key);
    const std::int64_t most = std::string_view(row.key) == "trace_days" ? days_max : limit_max;
    if (limit && (*limit < 0 || *limit > most)) inner.refuse(row.key, fmt::format("0 to {} was expected", most));
    if (json->is_object() && json->contains(row.key)) keeping.*row.limit = limit;
  }
  inner.finish();
  if (inner.error()) return tl::unexpected(*inner.error());
  return {};
}

/// Sets a field from a word of the body, where it is there.
template <typename Value>
void set_word(wire::ObjectReader& in, std::string_view key, std::optional<Value> (*value_of)(std::string_view),
              Value& field) {
  const auto text = in.maybe_text(key);
  if (!text) return;
  const auto value = value_of(*text);
  if (value)
    field = *value;
  else
    in.refuse(key, "unknown word");
}

/// Whose CI jobs may get a token. An issuer that this service does not ask would be a typo or a trap.
/// Errors: bad_body.
Result<std::string> trusted_jobs_in(const wire::Json& list, const Services& services) {
  TRACEWEIR_TRY(jobs, oidc::trusted_jobs_of(list));
  for (const oidc::TrustedJob& job : jobs)
    if (!services.issuers.know(job.issuer))
      return fail(ErrorCode::bad_body,
                  "trusted_jobs: issuer: expected one of oidc_github_issuers or oidc_gitlab_issuers of this service");
  return jobs.empty() ? std::string() : wire::dump(oidc::to_json(jobs));
}

Result<store::Project> changed(store::Project project, const std::string& body, const Services& services) {
  if (body.empty()) return project;
  TRACEWEIR_TRY(json, wire::parse_json(body));
  wire::ObjectReader in(json);
  set_word(in, "mode", &store::mode_of, project.mode);
  set_word(in, "policy_source", &store::policy_source_of, project.policy_source);
  set_word(in, "read_access", &store::read_access_of, project.read_access);
  for (const char* group : {"retention", "quota"}) TRACEWEIR_TRY_VOID(set_limits(in, group, project.keeping));
  const wire::Json* const jobs = in.child("trusted_jobs");
  in.finish();
  if (in.error()) return tl::unexpected(*in.error());
  if (jobs != nullptr) {
    TRACEWEIR_TRY(text, trusted_jobs_in(*jobs, services));
    project.trusted_jobs = text;
  }
  return project;
}

/// The same answer as authorize() gives to one who reads the project.
bool may_read(const std::optional<store::Token>& token, const store::Project& project) {
  if (project.read_access == store::ReadAccess::everyone) return true;
  if (!token || !(token->scopes.read || token->scopes.admin)) return false;
  return token->project.empty() || token->project == project.name;
}

}  // namespace

/// GET /api/v1/projects
/// 200 {projects}: those that the caller may read
Result<http::Response> get_projects(const http::Request& request, Services& services) {
  TRACEWEIR_TRY(token, authenticate(request, services));
  TRACEWEIR_TRY_VOID(request.query.only({}));
  TRACEWEIR_TRY(projects, services.store.projects());
  wire::Json list = wire::Json::array();
  for (const store::Project& project : projects)
    if (may_read(token, project)) list.push_back(json_of(project));
  return http::respond(http::Status::ok, json_type, wire::dump({{"projects", std::move(list)}}));
}

/// PUT /api/v1/projects/{project}   body: {mode?, policy_source?, read_access?, trusted_jobs?, retention?, quota?}
/// 200 the project; made where it was missing
Result<http::Response> put_project(const http::Request& request, const std::string& body, Services& services) {
  TRACEWEIR_TRY(admin, authorize_admin(request, services));
  TRACEWEIR_TRY_VOID(request.query.only({}));
  const std::string& name = request.param("project");
  if (!is_name(name)) return fail(ErrorCode::bad_query, "project: expected 1 to 128 letters, digits, '.', '_' or '-'");
  TRACEWEIR_TRY(known, services.store.project(name));
  store::Project project = known.value_or(store::Project{});
  project.name = name;
  if (!known) project.created_at = services.now();
  TRACEWEIR_TRY(next, changed(project, body, services));
  const store::AuditEntry audit{services.now(), name, admin.id, known ? "project_changed" : "project_created",
                                wire::dump(json_of(next))};
  TRACEWEIR_TRY_VOID(services.store.put_project(next, audit));
  return http::respond(http::Status::ok, json_type, wire::dump(json_of(next)));
}

/// GET /api/v1/projects/{project}/audit?limit=
/// 200 {entries}, newest first
Result<http::Response> get_audit(const http::Request& request, Services& services) {
  TRACEWEIR_TRY(caller, authorize(request, services, Right::admin));
  TRACEWEIR_TRY_VOID(request.query.only({"limit"}));
  TRACEWEIR_TRY(limit, integer_in(request.query, "limit", 1, services.limits.page_runs_max));
  TRACEWEIR_TRY(entries, services.store.audit(caller.project.name, limit.value_or(services.limits.page_runs_max)));
  wire::Json list = wire::Json::array();
  for (const store::AuditEntry& entry : entries)
    list.push_back({{"at", wire::to_rfc3339(entry.at)},
                    {"actor", entry.actor},
                    {"action", entry.action},
                    {"detail", entry.detail}});
  return http::respond(http::Status::ok, json_type, wire::dump({{"entries", std::move(list)}}));
}

}  // namespace traceweir::api
