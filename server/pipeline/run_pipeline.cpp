#include "server/pipeline/run_pipeline.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "gate/judge.hpp"
#include "server/pipeline/baseline.hpp"
#include "server/pipeline/comparable.hpp"
#include "server/pipeline/policy_choice.hpp"
#include "server/spool/sha256.hpp"
#include "server/wire/run_document.hpp"

namespace traceweir::pipeline {
namespace {

/// Failures that the caller's file caused: they are the run's result. All others leave the run unfinished.
bool is_result(ErrorCode code) {
  constexpr ErrorCode results[] = {ErrorCode::usage,
                                   ErrorCode::bad_query,
                                   ErrorCode::bad_body,
                                   ErrorCode::bad_policy,
                                   ErrorCode::empty_upload,
                                   ErrorCode::unknown_format,
                                   ErrorCode::not_a_trace,
                                   ErrorCode::unsupported_format,
                                   ErrorCode::malformed_trace,
                                   ErrorCode::trace_too_large,
                                   ErrorCode::analysis_timeout,
                                   ErrorCode::analysis_failed,
                                   ErrorCode::not_yet_available};
  return std::find(std::begin(results), std::end(results), code) != std::end(results);
}

gate::JudgedRun judged_run(const store::RunHead& head, const report::Report& report) {
  gate::JudgedRun run;
  run.id = head.id;
  for (const metrics::RunMeasurement& measured : report.measurements)
    run.measurements.push_back(metrics::in_base_unit(measured.mean));
  run.findings = report.findings;
  for (const report::RankReport& rank : report.ranks)
    run.findings.insert(run.findings.end(), rank.findings.begin(), rank.findings.end());
  run.ranks_present = static_cast<std::int64_t>(report.ranks.size());
  run.ranks_expected = head.ranks_expected == 0 ? run.ranks_present : head.ranks_expected;
  return run;
}

/// A higher attempt of the same CI run, job and matrix takes the place of a lower one.
bool supersedes(const store::RunHead& newer, const store::RunHead& older) {
  return !newer.ci_run.empty() && newer.ci_run == older.ci_run && newer.job == older.job &&
         newer.matrix == older.matrix && newer.attempt > older.attempt;
}

/// The commit's runs of this workload and class that count as samples, oldest first, the new one last.
Result<std::vector<gate::JudgedRun>> samples_of(store::Store& store, const store::RunHead& head,
                                                const report::Report& report, const std::string& key) {
  TRACEWEIR_TRY(records, store.runs_of_commit(head.project, head.workload, head.commit));
  std::vector<gate::JudgedRun> samples;
  for (const store::RunRecord& record : records) {
    const bool counts = record.head.id != head.id && record.status == store::RunStatus::judged &&
                        record.comparable_key == key && !record.superseded && !supersedes(head, record.head);
    if (!counts) continue;
    TRACEWEIR_TRY(earlier, report::from_json(record.report_json));
    samples.push_back(judged_run(record.head, earlier));
  }
  samples.push_back(judged_run(head, report));
  return samples;
}

bool may_be_baseline(const gate::Verdict& verdict, gate::Baseline::Place place) {
  const auto spoils = [](const gate::RuleResult& rule) {
    return rule.reason == gate::Reason::data_loss || rule.reason == gate::Reason::missing_rank ||
           rule.reason == gate::Reason::untrusted_data;
  };
  return place == gate::Baseline::Place::baseline_branch && verdict.outcome != gate::Outcome::fail &&
         std::none_of(verdict.rules.begin(), verdict.rules.end(), spoils);
}

/// The verdict as it is stored and answered, with what makes it replayable.
std::string document_of(gate::Verdict verdict, const ChosenPolicy& chosen, const store::Project& project) {
  verdict.notes.insert(verdict.notes.end(), chosen.notes.begin(), chosen.notes.end());
  return wire::to_json(wire::VerdictDocument{std::move(verdict), std::string(store::word(project.mode)), chosen.source,
                                             spool::sha256_hex(chosen.policy.text)});
}

std::vector<std::pair<std::string, double>> values_of(const report::Report& report) {
  std::vector<std::pair<std::string, double>> values;
  for (const metrics::RunMeasurement& measured : report.measurements) {
    const metrics::Measurement based = metrics::in_base_unit(measured.mean);
    if (based.value) values.emplace_back(based.metric, as_double(*based.value));
  }
  return values;
}

/// How the trace is read: what the upload says, else what the policy says.
analysis::AnalysisOptions reading_of(const store::RunRecord& run, const gate::Policy& policy) {
  analysis::AnalysisOptions options;
  options.window = run.head.window.empty() ? policy.trace.window : std::optional(run.head.window);
  options.steps = run.head.steps_glob.empty() ? policy.trace.steps : std::optional(run.head.steps_glob);
  options.skip_steps = run.head.skip_steps ? run.head.skip_steps : policy.trace.skip_steps;
  options.name = run.uploads.front().name;
  options.sha256 = run.uploads.front().sha256;
  return options;
}

/// The stages. Each arrow is a function: previous value in, next value out.
Result<store::RunResult> walk(const Stages& stages, const store::Project& project, const store::RunRecord& run) {
  TRACEWEIR_TRY(chosen, choose_policy(project, run.head));
  TRACEWEIR_TRY(blob, stages.blobs.path_of(run.uploads.front().sha256));
  TRACEWEIR_TRY(report, stages.analysis.report_of(blob, reading_of(run, chosen.policy)));
  // From here on nobody opens the upload again, and nobody asks which format it was.

  const std::string key = comparable_key(report, run.head.environment, chosen.policy.environment_match);
  TRACEWEIR_TRY(baseline, baseline_for(stages.store, run.head, chosen.policy, key));
  TRACEWEIR_TRY(samples, samples_of(stages.store, run.head, report, key));
  const gate::Verdict verdict = gate::judge(samples, baseline, chosen.policy);
  // From here on nothing is decided any more; the rest records.

  store::RunResult result;
  result.status = store::RunStatus::judged;
  result.outcome = verdict.outcome;
  result.report_json = report::to_json(report);
  result.verdict_json = document_of(verdict, chosen, project);
  result.comparable_key = key;
  result.in_baseline = may_be_baseline(verdict, baseline.place);
  result.values = values_of(report);
  return result;
}

store::RunResult rejected(const Error& error) {
  store::RunResult result;
  result.status = store::RunStatus::rejected;
  result.error_code = word(error.code);
  result.error_message = error.message;
  return result;
}

/// Records a result, and counts it once it is recorded.
Result<void> finish(const Stages& stages, const store::RunResult& result) {
  TRACEWEIR_TRY_VOID(stages.store.finish_run(result));
  stages.meters.run(result.outcome ? gate::word(*result.outcome) : store::word(result.status));
  return {};
}

}  // namespace

Result<void> run_pipeline(const Stages& stages, const std::string& project_name, const std::string& run_id) {
  TRACEWEIR_TRY(project, stages.store.project(project_name));
  TRACEWEIR_TRY(run, stages.store.run(project_name, run_id));
  if (!project || !run || run->uploads.empty()) return fail(ErrorCode::not_found, "the run is gone");
  auto result = walk(stages, *project, *run);
  if (!result && !is_result(result.error().code)) return tl::unexpected(std::move(result).error());
  store::RunResult record = result ? *std::move(result) : rejected(result.error());
  record.run = run_id;
  record.finished_at = stages.now();
  return finish(stages, record);
}

RunQueue::RunQueue(Stages stages, Workers& workers, OnError on_error)
    : stages_(std::move(stages)), workers_(workers), on_error_(std::move(on_error)) {}

std::shared_ptr<Completion> RunQueue::submit(const std::string& project, const std::string& run) {
  const std::lock_guard lock(mutex_);
  if (const auto it = on_their_way_.find(run); it != on_their_way_.end()) return it->second;
  const auto completion = std::make_shared<Completion>();
  on_their_way_.emplace(run, completion);
  workers_.submit([this, project, run] { take(project, run); });
  return completion;
}

/// A stop of the service and a database that is away are no fault of the run: it waits. Everything else counts.
void RunQueue::settle(const std::string& run, const Error& error) {
  on_error_(run, error);
  stages_.meters.run_error(word(error.code));
  if (error.code == ErrorCode::queue_full || error.code == ErrorCode::store_unavailable) return;
  const bool hopeless = error.code == ErrorCode::internal || error.code == ErrorCode::not_found;
  {
    const std::lock_guard lock(mutex_);
    if (++failures_[run] < tries_max && !hopeless) return;
    failures_.erase(run);
  }
  store::RunResult record = rejected(error);
  record.run = run;
  record.finished_at = stages_.now();
  if (const auto done = finish(stages_, record); !done) on_error_(run, done.error());
}

void RunQueue::take(const std::string& project, const std::string& run) {
  const auto begun = std::chrono::steady_clock::now();
  try {
    if (const auto done = run_pipeline(stages_, project, run); !done) settle(run, done.error());
  } catch (const std::exception& error) {
    settle(run, Error{ErrorCode::internal, error.what()});
  }
  stages_.meters.run_duration(std::chrono::steady_clock::now() - begun);
  std::shared_ptr<Completion> completion;
  {
    const std::lock_guard lock(mutex_);
    completion = std::move(on_their_way_.at(run));
    on_their_way_.erase(run);
  }
  completion->finish();
}

}  // namespace traceweir::pipeline
