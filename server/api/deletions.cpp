#include <chrono>

#include "server/api/auth.hpp"
#include "server/api/handlers.hpp"
#include "server/api/run_answer.hpp"
#include "server/pipeline/keeping.hpp"
#include "server/pipeline/settle.hpp"

namespace traceweir::api {
namespace {

/// Of a project, in one transaction.
constexpr std::int64_t runs_at_once = 100;
/// How long one request deletes: a project may have more runs than a request has patience.
constexpr std::chrono::seconds deletion_time_max{10};

http::Response gone() { return http::respond(http::Status::no_content, json_type, ""); }

}  // namespace

/// DELETE /api/v1/projects/{project}/runs/{run}
/// 204 it is gone, now or since an earlier request: its documents, values and acceptances, and its traces with their
/// last reference
Result<http::Response> delete_run(const http::Request& request, Services& services) {
  TRACEWEIR_TRY(caller, authorize(request, services, Right::admin));
  TRACEWEIR_TRY_VOID(request.query.only({}));
  const std::string &project = caller.project.name, &id = request.param("run");
  TRACEWEIR_TRY(run, services.store.run(project, id));
  const store::AuditEntry audit{services.now(), project, caller.token, "run_deleted", id};
  TRACEWEIR_TRY(deleted, services.store.delete_run(project, id, audit));
  pipeline::release_blobs(services.store, services.blobs, deleted.blobs);
  if (run) TRACEWEIR_TRY_VOID(pipeline::settle_deletion(services.store, *run, services.now()));
  return gone();
}

/// DELETE /api/v1/projects/{project}
/// 204 all of it is gone, tokens too, now or since an earlier request | 202 much of it; the same request goes on
Result<http::Response> delete_project(const http::Request& request, Services& services) {
  TRACEWEIR_TRY(admin, authorize_admin(request, services));
  TRACEWEIR_TRY_VOID(request.query.only({}));
  const std::string& project = request.param("project");
  const store::AuditEntry audit{services.now(), project, admin.id, "project_deleted", ""};
  const auto deadline = std::chrono::steady_clock::now() + deletion_time_max;
  for (;;) {
    TRACEWEIR_TRY(deleted, services.store.delete_project(project, runs_at_once, audit));
    pipeline::release_blobs(services.store, services.blobs, deleted.blobs);
    if (deleted.is_whole) return gone();
    if (std::chrono::steady_clock::now() >= deadline)
      return http::respond(http::Status::accepted, json_type, "{\"status\":\"deleting\"}").set("Retry-After", "0");
  }
}

}  // namespace traceweir::api
