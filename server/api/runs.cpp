#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "server/api/auth.hpp"
#include "server/api/handlers.hpp"
#include "server/api/markdown_answer.hpp"
#include "server/api/query_values.hpp"
#include "server/api/run_answer.hpp"
#include "server/pipeline/replay.hpp"
#include "server/wire/commit_list.hpp"
#include "server/wire/listing.hpp"
#include "server/wire/timestamp.hpp"
#include "server/wire/url_text.hpp"

namespace traceweir::api {
namespace {

Result<store::RunRecord> find_run(const http::Request& request, Services& services, const Caller& caller) {
  return run_in(services, caller.project.name, request.param("run"));
}

/// Errors: bad_query.
Result<void> read_commit(const http::Query& query, store::RunFilter& filter) {
  TRACEWEIR_TRY(commit, query.one("commit"));
  if (!commit || commit->empty()) return {};
  const bool whole = wire::is_commit(*commit);
  if (!whole && !wire::is_commit_prefix(*commit))
    return fail(ErrorCode::bad_query,
                fmt::format("commit: expected a full commit id of 40 or 64 hex digits, or its first {} or more",
                            wire::commit_prefix_min));
  (whole ? filter.commit : filter.commit_prefix) = *commit;
  return {};
}

Result<store::RunFilter> filter_of(const http::Request& request, const std::string& project, std::int64_t page_max) {
  TRACEWEIR_TRY_VOID(request.query.only(
      {"branch", "commit", "workload", "environment", "outcome", "since", "until", "cursor", "limit"}));
  store::RunFilter filter;
  filter.project = project;
  TRACEWEIR_TRY(branch, request.query.one("branch"));
  TRACEWEIR_TRY_VOID(read_commit(request.query, filter));
  TRACEWEIR_TRY(workload, request.query.one("workload"));
  TRACEWEIR_TRY(environment, request.query.one("environment"));
  TRACEWEIR_TRY(cursor, request.query.one("cursor"));
  filter.branch = branch.value_or("");
  filter.workload = workload.value_or("");
  filter.environment = environment.value_or("");
  filter.before = cursor.value_or("");
  TRACEWEIR_TRY(outcome, outcome_in(request.query, "outcome"));
  TRACEWEIR_TRY(since, time_in(request.query, "since"));
  TRACEWEIR_TRY(until, time_in(request.query, "until"));
  TRACEWEIR_TRY(limit, integer_in(request.query, "limit", 1, page_max));
  filter.outcome = outcome;
  filter.since = since;
  filter.until = until;
  filter.limit = limit.value_or(filter.limit);
  return filter;
}

/// When the run's traces become too old to be kept; nothing: not known, or never.
std::optional<store::Timestamp> kept_until(const store::RunRecord& run, const pipeline::KeepingLimits& limits) {
  const bool has_result = run.status == store::RunStatus::judged || run.status == store::RunStatus::rejected;
  const bool is_accepted = std::any_of(run.acceptances.begin(), run.acceptances.end(),
                                       [](const store::Acceptance& acceptance) { return !acceptance.undone_at; });
  if (limits.trace_retention.count() == 0 || !has_result || is_accepted || run.outcome == gate::Outcome::fail)
    return std::nullopt;
  return run.head.received_at + limits.trace_retention;
}

/// The path of the next page: the same query with another cursor.
std::string next_page(const http::Request& request, const std::string& project, const std::string& cursor) {
  std::string path = fmt::format("/api/v1/projects/{}/runs?", project);
  for (const http::Query::Item& item : request.query.items())
    if (item.key != "cursor") path += wire::percent_encoded(item.key) + "=" + wire::percent_encoded(item.value) + "&";
  return path + "cursor=" + wire::percent_encoded(cursor);
}

}  // namespace

/// GET /api/v1/projects/{project}/runs?branch=&commit=&workload=&environment=&outcome=&since=&until=&cursor=&limit=
/// 200 {runs, next}, newest first
Result<http::Response> get_runs(const http::Request& request, Services& services) {
  TRACEWEIR_TRY(caller, authorize(request, services, Right::read));
  TRACEWEIR_TRY(filter, filter_of(request, caller.project.name, services.limits.page_runs_max));
  const std::int64_t page = filter.limit;
  filter.limit = page + 1;  // one more tells whether there is a next page
  TRACEWEIR_TRY(records, services.store.runs(filter));
  std::string next;
  if (static_cast<std::int64_t>(records.size()) > page) {
    records.resize(static_cast<std::size_t>(page));
    next = next_page(request, caller.project.name, records.back().head.id);
  }
  std::vector<wire::RunDocument> runs;
  for (const store::RunRecord& record : records) runs.push_back(document_of(record));
  return http::respond(http::Status::ok, json_type, wire::runs_to_json(runs, next));
}

/// GET /api/v1/projects/{project}/runs/{run}
/// 200 the run; its job summary where the client asks for text/markdown
Result<http::Response> get_run(const http::Request& request, Services& services) {
  TRACEWEIR_TRY(caller, authorize(request, services, Right::read));
  TRACEWEIR_TRY_VOID(request.query.only({}));
  TRACEWEIR_TRY(run, find_run(request, services, caller));
  wire::RunDocument document = document_of(run);
  if (request.accepts(markdown_type)) return markdown_of(request, document);
  const auto until = kept_until(run, pipeline::limits_of(caller.project, services.limits.keeping));
  for (wire::TraceState& trace : document.traces)
    if (!trace.removed_at) trace.kept_until = until;
  return http::respond(http::Status::ok, json_type, wire::to_json(document, wire::Detail::whole));
}

/// GET /api/v1/projects/{project}/runs/{run}/replay
/// 200 whether the judge says the same again, and where not
Result<http::Response> get_replay(const http::Request& request, Services& services) {
  TRACEWEIR_TRY(caller, authorize(request, services, Right::read));
  TRACEWEIR_TRY_VOID(request.query.only({}));
  TRACEWEIR_TRY(run, find_run(request, services, caller));
  TRACEWEIR_TRY(document, pipeline::replay(services.store, run, services.build));
  return http::respond(http::Status::ok, json_type, wire::to_json(document));
}

/// GET /api/v1/projects/{project}/runs/{run}/traces/{rank}
/// 200 the raw trace, as a download | 410 it was removed: when, and by which limit
Result<http::Response> get_trace(const http::Request& request, Services& services) {
  TRACEWEIR_TRY(caller, authorize(request, services, Right::read));
  TRACEWEIR_TRY_VOID(request.query.only({}));
  TRACEWEIR_TRY(run, find_run(request, services, caller));
  const std::string& rank = request.param("rank");
  for (const store::Upload& upload : run.uploads) {
    if (std::to_string(upload.rank) != rank) continue;
    if (upload.removed_at)
      return fail(ErrorCode::trace_removed,
                  fmt::format("the trace of rank {} was removed at {}: {}; the run stays", rank,
                              wire::to_rfc3339(*upload.removed_at), upload.removed_why));
    TRACEWEIR_TRY(blob, services.blobs.fetch(upload.sha256));
    const auto kept = std::make_shared<spool::LocalBlob>(std::move(blob));
    const std::string name = upload.name.empty() ? fmt::format("{}.rank{}.trace", run.head.id, rank) : upload.name;
    return http::download(kept->path(), "application/octet-stream", name, kept);
  }
  return fail(ErrorCode::not_found, fmt::format("the run has no trace of rank '{}'", rank));
}

}  // namespace traceweir::api
