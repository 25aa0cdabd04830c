#include <fmt/format.h>

#include "gate/policy.hpp"
#include "server/api/auth.hpp"
#include "server/api/handlers.hpp"
#include "server/hash/sha256.hpp"

namespace traceweir::api {
namespace {

constexpr std::string_view toml_type = "application/toml";

Result<std::string> hash_in(const http::Request& request) {
  const std::string& hash = request.param("sha256");
  if (hash::is_sha256(hash)) return hash;
  return fail(ErrorCode::bad_query, "policy: expected 64 lower-case hex digits in the path");
}

}  // namespace

/// GET /api/v1/projects/{project}/policy
/// 200 the policy on the server as TOML; without one, the built-in policy (X-Policy-Source says which)
Result<http::Response> get_policy(const http::Request& request, Services& services) {
  TRACEWEIR_TRY(caller, authorize(request, services, Right::read));
  TRACEWEIR_TRY_VOID(request.query.only({}));
  const bool built_in = caller.project.policy.empty();
  const std::string& text = built_in ? gate::built_in_policy().text : caller.project.policy;
  return http::respond(http::Status::ok, toml_type, text).set("X-Policy-Source", built_in ? "built_in" : "server");
}

/// PUT /api/v1/projects/{project}/policy   body: TOML; an empty body goes back to the built-in policy
/// 204
Result<http::Response> put_policy(const http::Request& request, const std::string& body, Services& services) {
  TRACEWEIR_TRY(caller, authorize(request, services, Right::admin));
  TRACEWEIR_TRY_VOID(request.query.only({}));
  if (!body.empty()) TRACEWEIR_TRY_VOID(gate::parse_policy(body));
  store::Project project = caller.project;
  project.policy = body;
  const std::string detail = body.empty() ? "built-in policy" : fmt::format("sha256 {}", hash::sha256_hex(body));
  TRACEWEIR_TRY_VOID(services.store.put_project(
      project, store::AuditEntry{services.now(), project.name, caller.token, "policy_changed", detail}));
  return http::respond(http::Status::no_content, "", "");
}

/// GET /api/v1/projects/{project}/policies/{sha256}
/// 200 the text that a run of the project was judged by, or that was sent for its uploads, as TOML
Result<http::Response> get_kept_policy(const http::Request& request, Services& services) {
  TRACEWEIR_TRY(caller, authorize(request, services, Right::read));
  TRACEWEIR_TRY_VOID(request.query.only({}));
  TRACEWEIR_TRY(hash, hash_in(request));
  TRACEWEIR_TRY(text, services.store.policy(caller.project.name, hash));
  if (!text) return fail(ErrorCode::not_found, "there is no policy of this hash in this project");
  return http::respond(http::Status::ok, toml_type, *text);
}

/// PUT /api/v1/projects/{project}/policies/{sha256}   body: TOML, named by its hash
/// 204: uploads may refer to it by policy=
Result<http::Response> put_sent_policy(const http::Request& request, const std::string& body, Services& services) {
  TRACEWEIR_TRY(caller, authorize(request, services, Right::upload));
  TRACEWEIR_TRY_VOID(request.query.only({}));
  TRACEWEIR_TRY(hash, hash_in(request));
  if (hash != hash::sha256_hex(body))
    return fail(ErrorCode::hash_mismatch, "the text has the SHA-256 " + hash::sha256_hex(body));
  TRACEWEIR_TRY_VOID(gate::parse_policy(body));
  TRACEWEIR_TRY_VOID(services.store.put_policy(caller.project.name, hash, body, services.now()));
  return http::respond(http::Status::no_content, "", "");
}

}  // namespace traceweir::api
