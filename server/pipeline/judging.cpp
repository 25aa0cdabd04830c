#include "server/pipeline/judging.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "gate/cost.hpp"
#include "gate/membership.hpp"
#include "server/pipeline/baseline.hpp"
#include "server/pipeline/policy_choice.hpp"
#include "server/store/run_group.hpp"

namespace traceweir::pipeline {
namespace {

/// The runs that are judged together, and what the verdict is to say of that.
struct Samples {
  std::vector<gate::JudgedRun> runs;  ///< oldest first, the new one last
  std::vector<std::string> notes;
  Beside beside{};
};

/// A higher attempt of the same job that has its verdict or may still get one; nullptr: this is the highest.
const store::RunRecord* higher_attempt(const std::vector<store::RunRecord>& records, const store::RunHead& head) {
  const auto found = std::find_if(records.begin(), records.end(), [&](const store::RunRecord& record) {
    return record.status != store::RunStatus::rejected && store::supersedes(record.head, head);
  });
  return found == records.end() ? nullptr : &*found;
}

Beside beside_of(const std::vector<store::RunRecord>& records, const store::RunHead& head) {
  Beside beside;
  for (const store::RunRecord& record : records) {
    if (record.head.id == head.id || record.status != store::RunStatus::judged) continue;
    ++beside.runs;
    beside.newest = std::max(beside.newest, record.finished_at.value_or(store::Timestamp{}));
  }
  return beside;
}

/// The runs of its commit and workload, itself among them. Most commits have one: documents are read of those that
/// count.
Result<std::vector<store::RunRecord>> others_of(store::Store& store, const store::RunHead& head) {
  return store.runs_of_commit(head.project, head.workload, head.commit, store::Documents::none);
}

/// A run that was judged before. Nothing: it was deleted meanwhile.
Result<std::optional<gate::JudgedRun>> sample_of(store::Store& store, const store::RunHead& head) {
  TRACEWEIR_TRY(record, store.run(head.project, head.id));
  if (!record) return std::optional<gate::JudgedRun>{};
  TRACEWEIR_TRY(report, report::from_json(record->report_json));
  return std::optional(judged_run(head, report));
}

/// The commit's runs of this workload and class that count as samples. Runs of a change and of the repository itself
/// are not mixed: whoever proposes a change can name any commit. An attempt that comes after a higher one of its job is
/// judged alone: it must neither change what the higher one says nor lean on it.
Result<Samples> samples_of(store::Store& store, const store::RunHead& head, const report::Report& report,
                           const std::string& key) {
  TRACEWEIR_TRY(records, others_of(store, head));
  if (const store::RunRecord* higher = higher_attempt(records, head))
    return Samples{{judged_run(head, report)},
                   {fmt::format("attempt {} of this job came before this attempt {}: judged alone; run {} takes its "
                                "place (superseded) once it is judged",
                                higher->head.attempt, head.attempt, higher->head.id)},
                   beside_of(records, head)};
  Samples samples;
  samples.beside = beside_of(records, head);
  for (const store::RunRecord& record : records) {
    const bool counts = record.head.id != head.id && record.status == store::RunStatus::judged &&
                        store::same_change(record.head, head) && record.comparable_key == key && !record.superseded &&
                        !store::supersedes(head, record.head);
    if (!counts) continue;
    TRACEWEIR_TRY(earlier, sample_of(store, record.head));
    if (earlier) samples.runs.push_back(*std::move(earlier));
  }
  samples.runs.push_back(judged_run(head, report));
  return samples;
}

/// Whether the run is whole: what is known of it may be compared.
bool is_whole(const gate::Verdict& verdict) {
  const auto spoils = [](const gate::RuleResult& rule) {
    return rule.reason == gate::Reason::data_loss || rule.reason == gate::Reason::missing_rank ||
           rule.reason == gate::Reason::untrusted_data;
  };
  return std::none_of(verdict.rules.begin(), verdict.rules.end(), spoils);
}

std::vector<std::string> measured_ids(const report::Report& report) {
  std::vector<std::string> ids;
  for (const metrics::RunMeasurement& measured : report.measurements) ids.push_back(measured.mean.metric);
  return ids;
}

/// The bands of the rules against the baseline itself, not of those against a pin.
std::map<std::string, gate::NoiseBand> bands_of(const gate::Verdict& verdict) {
  std::map<std::string, gate::NoiseBand> bands;
  for (const gate::RuleResult& rule : verdict.rules)
    if (rule.band && rule.against.empty()) bands[rule.metric] = *rule.band;
  return bands;
}

/// Whether none of the commit's runs, judged together with the others, fails or waits for confirmation. Values are the
/// commit's, whichever run is answered; findings are each run's own.
bool commit_counts(const gate::Verdict& verdict, std::vector<gate::JudgedRun> runs, const gate::Baseline& baseline,
                   const gate::Policy& policy) {
  if (gate::keeps_out(verdict)) return false;
  for (std::size_t i = 1; i < runs.size() && !policy.findings.empty(); ++i) {
    std::rotate(runs.begin(), runs.begin() + 1, runs.end());
    const gate::Verdict of_other = gate::judge(runs, baseline, policy);
    if (is_whole(of_other) && gate::keeps_out(of_other)) return false;
  }
  return true;
}

/// The acceptances that speak to the metrics whose rules keep the run out without any.
std::vector<std::string> needed(const gate::Verdict& without, const std::map<std::string, std::string>& speaking) {
  std::set<std::string> ids;
  for (const gate::RuleResult& rule : without.rules) {
    const auto found = speaking.find(rule.metric);
    if (gate::keeps_out(rule) && found != speaking.end()) ids.insert(found->second);
  }
  return {ids.begin(), ids.end()};
}

}  // namespace

Result<Beside> beside_of(store::Store& store, const store::RunHead& head) {
  TRACEWEIR_TRY(records, others_of(store, head));
  return beside_of(records, head);
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

std::vector<std::string> asked_metrics(const gate::Policy& policy, const report::Report& report) {
  std::vector<std::string> metrics;
  for (const gate::Rule& rule : gate::rules_for(policy, measured_ids(report))) metrics.push_back(rule.metric);
  if (policy.gpu_hour)
    for (const char* metric : gate::waiting_metrics)
      if (std::find(metrics.begin(), metrics.end(), metric) == metrics.end()) metrics.emplace_back(metric);
  return metrics;
}

Result<JudgedVerdict> judge_run(store::Store& store, const JudgeQuestion& question) {
  const std::vector<std::string> metrics = asked_metrics(question.policy, question.report);
  BaselineQuestion asked{question.head, question.policy, question.comparable_key, metrics, question.now};
  TRACEWEIR_TRY(found, baseline_for(store, asked));
  TRACEWEIR_TRY(samples, samples_of(store, question.head, question.report, question.comparable_key));
  JudgedVerdict judged;
  judged.place = found.baseline.place;
  judged.verdict = gate::judge(samples.runs, found.baseline, question.policy);
  judged.bands = bands_of(judged.verdict);
  judged.in_series = judged.place == gate::Baseline::Place::baseline_branch && is_whole(judged.verdict);
  judged.in_baseline = judged.in_series && commit_counts(judged.verdict, samples.runs, found.baseline, question.policy);
  if (judged.in_baseline && !found.speaking.empty()) {
    asked.leaning = store::Leaning::never;
    TRACEWEIR_TRY(unaccepted, baseline_for(store, asked));
    judged.leans_on = needed(gate::judge(samples.runs, unaccepted.baseline, question.policy), found.speaking);
  }
  judged.beside = samples.beside;
  judged.inputs = {"",
                   question.report.analyzer_version,
                   question.report.classifier,
                   std::move(samples.runs),
                   std::move(found.baseline),
                   std::move(samples.notes)};
  return judged;
}

namespace {

Result<store::Membership> membership_in(store::Store& store, const store::Project& project, const RecentRuns::Run& run,
                                        store::Timestamp now) {
  TRACEWEIR_TRY(chosen, choose_policy(project, run.head));
  TRACEWEIR_TRY(judged, judge_run(store, {run.head, run.report, chosen.policy, run.comparable_key, now}));
  return store::Membership{run.head.id, judged.in_baseline, judged.leans_on, judged.in_series};
}

}  // namespace

Result<store::Membership> membership_of(store::Store& store, const store::Project& project, const std::string& run_id,
                                        store::Timestamp now, const RecentRuns* recent) {
  if (const auto known = recent == nullptr ? nullptr : recent->find(run_id); known != nullptr)
    return membership_in(store, project, *known, now);
  TRACEWEIR_TRY(run, store.run(project.name, run_id));
  if (!run) return fail(ErrorCode::not_found, "the run is gone");
  TRACEWEIR_TRY(report, report::from_json(run->report_json));
  return membership_in(store, project, {run->head, run->comparable_key, std::move(report)}, now);
}

}  // namespace traceweir::pipeline
