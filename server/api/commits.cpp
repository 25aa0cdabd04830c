#include "server/api/auth.hpp"
#include "server/api/handlers.hpp"
#include "server/api/run_answer.hpp"
#include "server/api/upload_query.hpp"
#include "server/wire/listing.hpp"

namespace traceweir::api {

/// GET /api/v1/projects/{project}/commits/{sha}
/// 200 {commit, outcome, runs}: all runs of a commit, oldest first, and the commit's outcome
Result<http::Response> get_commit(const http::Request& request, Services& services) {
  TRACEWEIR_TRY(caller, authorize(request, services, Right::read));
  TRACEWEIR_TRY_VOID(request.query.only({}));
  const std::string& sha = request.param("sha");
  if (!is_commit(sha)) return fail(ErrorCode::bad_query, "commit: expected a full commit id of 40 or 64 hex digits");
  TRACEWEIR_TRY(records, services.store.runs_of_commit(caller.project.name, "", sha));
  std::vector<wire::RunDocument> runs;
  for (const store::RunRecord& record : records) runs.push_back(document_of(record));
  return http::respond(http::Status::ok, json_type, wire::commit_to_json(sha, outcome_of(records), runs));
}

}  // namespace traceweir::api
