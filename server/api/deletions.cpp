#include <chrono>
#include <string>
#include <vector>

#include "server/api/auth.hpp"
#include "server/api/handlers.hpp"
#include "server/api/run_answer.hpp"
#include "server/pipeline/keeping.hpp"
#include "server/pipeline/settle.hpp"

namespace traceweir::api {
namespace {

/// Of a project, in one transaction: few, since one may have a thousand ranks, and nothing looks at the time meanwhile.
constexpr std::int64_t runs_at_once = 10;
/// How long one request deletes: a project may have more runs than a request has patience.
constexpr std::chrono::seconds deletion_time_max{10};

using Clock = std::chrono::steady_clock;

/// Until the time is up: where traces are far away, each costs a request. What is left, nobody refers to, and the sweep
/// finds it within a day.
void release_until(Clock::time_point deadline, Services& services, const std::vector<std::string>& sha256s) {
  for (const std::string& sha256 : sha256s) {
    if (Clock::now() >= deadline) return;
    pipeline::release_blobs(services.store, services.blobs, {sha256});
  }
}

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
  // Before the traces, which may take long and which a sweep finds: a series that is not settled now waits for its next
  // run, since a repeated request finds nothing to settle by.
  const auto settled = run ? pipeline::settle_deletion(services.store, *run, services.now()) : Result<void>{};
  release_until(Clock::now() + deletion_time_max, services, deleted.blobs);
  return settled ? Result<http::Response>(gone()) : tl::unexpected(settled.error());
}

/// DELETE /api/v1/projects/{project}
/// 204 all of it is gone, tokens too, now or since an earlier request | 202 much of it; the same request goes on
Result<http::Response> delete_project(const http::Request& request, Services& services) {
  TRACEWEIR_TRY(admin, authorize_admin(request, services));
  TRACEWEIR_TRY_VOID(request.query.only({}));
  const std::string& project = request.param("project");
  const store::AuditEntry audit{services.now(), project, admin.id, "project_deleted", ""};
  const auto deadline = Clock::now() + deletion_time_max;
  for (;;) {
    TRACEWEIR_TRY(deleted, services.store.delete_project(project, runs_at_once, audit));
    release_until(deadline, services, deleted.blobs);
    if (deleted.is_whole) return gone();
    if (Clock::now() >= deadline)
      return http::respond(http::Status::accepted, json_type, "{\"status\":\"deleting\"}").set("Retry-After", "0");
  }
}

}  // namespace traceweir::api
