#include <algorithm>
#include <utility>
#include <vector>

#include "server/api/auth.hpp"
#include "server/api/binding.hpp"
#include "server/api/handlers.hpp"
#include "server/api/markdown_answer.hpp"
#include "server/api/run_answer.hpp"
#include "server/wire/commit_list.hpp"
#include "server/wire/listing.hpp"

namespace traceweir::api {
namespace {

/// In a summary the verdict that was given last speaks for a workload; a run without any comes after it.
bool is_judged_before(const store::RunRecord& a, const store::RunRecord& b) {
  return a.finished_at.value_or(store::Timestamp::max()) < b.finished_at.value_or(store::Timestamp::max());
}

}  // namespace

/// PUT /api/v1/projects/{project}/commits   body: [{sha, parents, committed_at, subject, author}]
/// 204: added to the commit graph; what was known of a commit stays
Result<http::Response> put_commits(const http::Request& request, const std::string& body, Services& services) {
  TRACEWEIR_TRY(caller, authorize(request, services, Right::upload));
  TRACEWEIR_TRY_VOID(request.query.only({}));
  TRACEWEIR_TRY(rows, wire::commits_from_json(body));
  std::vector<store::Commit> commits;
  for (wire::CommitRow& row : rows)
    commits.push_back(
        {std::move(row.sha), std::move(row.parents), row.committed_at, std::move(row.subject), std::move(row.author)});
  TRACEWEIR_TRY_VOID(keep_commits(services.store, caller, commits));
  return http::respond(http::Status::no_content, "", "");
}

/// GET /api/v1/projects/{project}/commits/{sha}
/// 200 {commit, outcome, runs}: all runs of a commit, oldest first, and the commit's outcome; its summary where the
/// client asks for text/markdown
Result<http::Response> get_commit(const http::Request& request, Services& services) {
  TRACEWEIR_TRY(caller, authorize(request, services, Right::read));
  TRACEWEIR_TRY_VOID(request.query.only({}));
  const std::string& sha = request.param("sha");
  if (!wire::is_commit(sha))
    return fail(ErrorCode::bad_query, "commit: expected a full commit id of 40 or 64 hex digits");
  TRACEWEIR_TRY(records, services.store.runs_of_commit(caller.project.name, "", sha, store::Documents::verdict));
  const auto outcome = outcome_of(records);
  const bool as_markdown = request.accepts(markdown_type);
  if (as_markdown) std::stable_sort(records.begin(), records.end(), is_judged_before);
  std::vector<wire::RunDocument> runs;
  for (const store::RunRecord& record : records) runs.push_back(document_of(record));
  if (as_markdown) return markdown_of_commit(request, sha, runs);
  return http::respond(http::Status::ok, json_type, wire::commit_to_json(sha, outcome, runs));
}

}  // namespace traceweir::api
