#include "server/pipeline/judged_result.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "server/hash/sha256.hpp"
#include "server/pipeline/comparable.hpp"
#include "server/pipeline/explanation.hpp"
#include "server/pipeline/settle.hpp"
#include "server/wire/judge_inputs.hpp"
#include "server/wire/run_document.hpp"

namespace traceweir::pipeline {
namespace {

/// The verdict as it is stored: what is answered, and what it can be judged again from.
std::string stored_verdict(const Stages& stages, const store::Project& project, const ChosenPolicy& chosen,
                           JudgedVerdict judged) {
  wire::JudgeInputs& inputs = judged.inputs;
  inputs.build = stages.build;
  inputs.notes.insert(inputs.notes.end(), chosen.notes.begin(), chosen.notes.end());
  gate::Verdict& verdict = judged.verdict;
  verdict.notes.insert(verdict.notes.end(), inputs.notes.begin(), inputs.notes.end());
  const std::string document = wire::to_json(wire::VerdictDocument{
      std::move(verdict), std::string(store::word(project.mode)), chosen.source, hash::sha256_hex(chosen.policy.text)});
  return wire::stored_verdict(document, wire::to_json(wire::needed_by(chosen.policy, std::move(inputs))));
}

/// The policy's text stays to be had under its hash, whatever the project's policy becomes.
Result<void> keep_policy(const Stages& stages, const store::Project& project, const gate::Policy& policy) {
  const std::string sha256 = hash::sha256_hex(policy.text);
  TRACEWEIR_TRY(kept, stages.store.policy(project.name, sha256));
  if (kept) return {};
  return stages.store.put_policy(project.name, sha256, policy.text, stages.now());
}

std::vector<std::pair<std::string, double>> values_of(const report::Report& report) {
  std::vector<std::pair<std::string, double>> values;
  for (const metrics::RunMeasurement& measured : report.measurements) {
    const metrics::Measurement based = metrics::in_base_unit(measured.mean);
    if (based.value) values.emplace_back(based.metric, as_double(*based.value));
  }
  return values;
}

/// A failing run of the baseline branch means that everybody's next run is compared with a broken state.
std::optional<Notice> failure_of(const store::RunHead& head, const JudgedVerdict& judged) {
  const gate::Verdict& verdict = judged.verdict;
  const bool on_branch = judged.place == gate::Baseline::Place::baseline_branch;
  if (!on_branch || verdict.outcome != gate::Outcome::fail) return std::nullopt;
  const std::string metric = verdict.rules.empty() ? "" : verdict.rules.front().metric;
  return Notice{Notice::Kind::failed, head.project, head.workload,   head.branch, head.id,
                head.commit,          metric,       verdict.summary, false};
}

/// Two verdicts of a commit come one after the other, whatever the clocks of those who give them say.
store::Timestamp finish_time(const Stages& stages, const JudgedVerdict& judged) {
  return std::max(stages.now(), judged.beside.newest + std::chrono::microseconds{1});
}

}  // namespace

Result<Walked> judge(const Stages& stages, const store::Project& project, const store::RunRecord& run,
                     const Measured& measured) {
  const auto& [chosen, report] = measured;
  const std::string key = comparable_key(report, run.head.environment, chosen.policy.environment_match);
  TRACEWEIR_TRY_VOID(keep_policy(stages, project, chosen.policy));
  TRACEWEIR_TRY(judged, judge_run(stages.store, {run.head, report, chosen.policy, key, stages.now()}));
  TRACEWEIR_TRY_VOID(explain(stages.store, {project.name, report, judged.inputs.baseline, chosen.policy, stages.recent},
                             judged.verdict));
  // From here on nothing is decided any more; the rest records.

  Walked walked;
  if (auto failure = failure_of(run.head, judged)) walked.notices.push_back(*std::move(failure));
  store::RunResult& result = walked.result;
  result.status = store::RunStatus::judged;
  result.outcome = judged.verdict.outcome;
  result.report_json = report::to_json(report);
  result.comparable_key = key;
  result.in_baseline = judged.in_baseline;
  result.in_series = judged.in_series;
  result.values = values_of(report);
  result.bands = judged.bands;
  result.leans_on = judged.leans_on;
  result.verdict_json = stored_verdict(stages, project, chosen, judged);
  result.beside = judged.beside.runs;
  result.finished_at = finish_time(stages, judged);
  walked.judged = std::move(judged);
  return walked;
}

Unsettled unsettled(const store::Project& project, const FinishedRun& times, const store::RunHead& head,
                    Measured measured, Walked walked) {
  const SeriesCause cause{
      project, head, measured.report, measured.chosen.policy, walked.result.comparable_key, walked.result.finished_at};
  auto metrics = analysed_metrics(cause);
  walked.result.report_json = walked.result.verdict_json = {};
  walked.result.values = {};
  return {project, head, std::move(measured), std::move(walked), {times}, std::move(metrics)};
}

Result<std::vector<Notice>> settle_series(const Stages& stages, const Unsettled& unsettled) {
  const auto& [project, head, measured, walked, runs, metrics] = unsettled;
  const auto verdict_with = [&](const std::vector<std::string>& notes) {
    JudgedVerdict verdict = *unsettled.walked.judged;
    verdict.inputs.notes.insert(verdict.inputs.notes.end(), notes.begin(), notes.end());
    return stored_verdict(stages, unsettled.project, unsettled.measured.chosen, std::move(verdict));
  };
  const SeriesCause newest{project,
                           head,
                           measured.report,
                           measured.chosen.policy,
                           walked.result.comparable_key,
                           walked.result.finished_at,
                           stages.recent};
  return settle_runs(stages.store, {newest, runs, metrics}, verdict_with);
}

}  // namespace traceweir::pipeline
