#include "server/api/run_answer.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "server/http/problem.hpp"
#include "server/store/run_group.hpp"
#include "server/wire/judge_inputs.hpp"

namespace traceweir::api {
namespace {

Error error_of(const std::string& code, const std::string& message) {
  return {error_code_of(code).value_or(ErrorCode::internal), message};
}

/// How far the ranks of a run of several uploads are; nothing for a run of its own.
std::optional<wire::RunRanks> ranks_of(const store::RunRecord& run) {
  if (run.head.group.empty()) return std::nullopt;
  wire::RunRanks ranks;
  if (run.head.ranks_expected > 0) ranks.expected = run.head.ranks_expected;
  ranks.received = store::ranks_received(run);
  ranks.missing = store::ranks_missing(run);
  for (const store::Upload& upload : run.uploads)
    if (upload.status == store::UploadStatus::rejected)
      ranks.rejected.push_back({upload.rank, error_of(upload.error_code, upload.error_message)});
  return ranks;
}

/// Where a workload of a commit stands.
struct Standing {
  std::optional<gate::Outcome> verdict;  ///< the one given last: it knows all others
  std::optional<store::Timestamp> given_at;
  store::RunStatus latest = store::RunStatus::judged;
};

enum class IfJudged { yes, no };

/// Whether a higher attempt of the run's job is there; with `yes`, only one that has a verdict counts.
bool has_higher(std::span<const store::RunRecord> runs, const store::RunRecord& run, IfJudged judged) {
  return std::any_of(runs.begin(), runs.end(), [&](const store::RunRecord& other) {
    return other.head.workload == run.head.workload && store::supersedes(other.head, run.head) &&
           (judged == IfJudged::no || other.status == store::RunStatus::judged);
  });
}

/// Whoever proposes a change can name any commit: what a change says of one that the repository has measured itself
/// does not count.
bool is_outdone(std::span<const store::RunRecord> runs, const store::RunRecord& run) {
  return store::is_change(run.head) && std::any_of(runs.begin(), runs.end(), [&](const store::RunRecord& other) {
           return !store::is_change(other.head) && other.head.workload == run.head.workload;
         });
}

bool is_on_its_way(store::RunStatus status) {
  return status == store::RunStatus::pending || status == store::RunStatus::analysing;
}

/// Nothing but our own work is missing. A run that was closed while an upload was analysed is still pending, until that
/// has ended.
bool is_on_its_way_to_a_verdict(const store::RunRecord& run) {
  return run.status == store::RunStatus::analysing || (run.status == store::RunStatus::pending && run.closed);
}

}  // namespace

wire::RunDocument document_of(const store::RunRecord& run) {
  wire::RunDocument document;
  document.id = run.head.id;
  document.project = run.head.project;
  document.workload = run.head.workload;
  document.commit = run.head.commit;
  document.branch = run.head.branch;
  document.base_branch = run.head.base_branch;
  document.head = run.head.head;
  document.base = run.head.base;
  document.pull_request = run.head.pull_request;
  document.fork = run.head.fork;
  document.attempt = run.head.attempt;
  document.job = run.head.job;
  document.matrix = run.head.matrix;
  document.job_url = run.head.job_url;
  document.status = store::word(run.status);
  document.superseded = run.superseded;
  document.uploaded_at = run.head.received_at;
  document.environment = run.head.environment;
  document.ranks = ranks_of(run);
  for (const store::Upload& upload : run.uploads)
    document.traces.push_back({upload.rank, upload.bytes, upload.sha256, upload.removed_at, upload.removed_why, {}});
  document.verdict_json = wire::document_in(run.verdict_json);
  document.report_json = run.report_json;
  for (const store::Acceptance& acceptance : run.acceptances) document.acceptances.push_back(document_of(acceptance));
  if (!run.error_code.empty()) document.error = error_of(run.error_code, run.error_message);
  return document;
}

http::Response answer_of(const store::RunRecord& run, const AnswerOptions& options) {
  wire::RunDocument document = document_of(run);
  document.warnings = options.warnings;
  if (run.status == store::RunStatus::rejected) return http::problem(*document.error);
  const std::string path = wire::run_path(run.head.project, run.head.id);
  const std::string text = wire::to_json(document, wire::Detail::whole);
  if (run.status != store::RunStatus::judged)
    return http::respond(http::Status::accepted, json_type, text).set("Location", path).set("Retry-After", "2");
  const bool as_error = run.outcome == gate::Outcome::fail && options.fail_status == FailStatus::failed_dependency;
  const http::Status status = as_error ? http::Status::failed_dependency : options.judged;
  return http::respond(status, json_type, text).set("Location", path);
}

Result<store::RunRecord> run_in(Services& services, const std::string& project, const std::string& run) {
  TRACEWEIR_TRY(record, services.store.run(project, run));
  if (!record) return fail(ErrorCode::not_found, "there is no such run in this project");
  return *std::move(record);
}

boost::asio::awaitable<Result<store::RunRecord>> result_of(Services& services, Awaited awaited,
                                                           std::chrono::seconds wait) {
  auto looking_up = [&] { return run_in(services, awaited.project, awaited.run); };
  if (awaited.done == nullptr || wait.count() <= 0) {
    auto record = co_await services.workers.run(looking_up);
    if (!record || !is_on_its_way_to_a_verdict(*record) || wait.count() <= 0) co_return record;
    awaited.done = services.runs.watch(awaited.run);
  }
  co_await pipeline::wait_for(awaited.done, wait);
  co_return co_await services.workers.run(looking_up);
}

std::optional<gate::Outcome> outcome_of(std::span<const store::RunRecord> oldest_first) {
  std::map<std::string, Standing> workloads;
  for (const store::RunRecord& run : oldest_first) {
    if (run.superseded || has_higher(oldest_first, run, IfJudged::yes) || is_outdone(oldest_first, run)) continue;
    Standing& standing = workloads[run.head.workload];
    if (run.outcome && run.finished_at >= standing.given_at) {
      standing.verdict = *run.outcome;
      standing.given_at = run.finished_at;
    }
    if (!has_higher(oldest_first, run, IfJudged::no)) standing.latest = run.status;
  }
  std::optional<gate::Outcome> worst;
  bool any_without = false, any_on_its_way = false;
  for (const auto& [workload, standing] : workloads) {
    if (standing.verdict) worst = worst ? std::max(*worst, *standing.verdict) : *standing.verdict;
    any_without = any_without || standing.latest != store::RunStatus::judged;
    any_on_its_way = any_on_its_way || is_on_its_way(standing.latest);
  }
  if (!any_without || (!worst && any_on_its_way)) return worst;
  return std::max(worst.value_or(gate::Outcome::inconclusive), gate::Outcome::inconclusive);
}

}  // namespace traceweir::api
