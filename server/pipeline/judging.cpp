#include "server/pipeline/judging.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "server/pipeline/baseline.hpp"
#include "server/store/run_group.hpp"

namespace traceweir::pipeline {
namespace {

/// The runs that are judged together, and what the verdict is to say of that.
struct Samples {
  std::vector<gate::JudgedRun> runs;  ///< oldest first, the new one last
  std::vector<std::string> notes;
};

/// A higher attempt of the same job that has its verdict or may still get one; nullptr: this is the highest.
const store::RunRecord* higher_attempt(const std::vector<store::RunRecord>& records, const store::RunHead& head) {
  const auto found = std::find_if(records.begin(), records.end(), [&](const store::RunRecord& record) {
    return record.status != store::RunStatus::rejected && store::supersedes(record.head, head);
  });
  return found == records.end() ? nullptr : &*found;
}

/// The commit's runs of this workload and class that count as samples. An attempt that comes after a higher one of its
/// job is judged alone: it must neither change what the higher one says nor lean on it.
Result<Samples> samples_of(store::Store& store, const store::RunHead& head, const report::Report& report,
                           const std::string& key) {
  TRACEWEIR_TRY(records, store.runs_of_commit(head.project, head.workload, head.commit));
  if (const store::RunRecord* higher = higher_attempt(records, head))
    return Samples{{judged_run(head, report)},
                   {fmt::format("attempt {} of this job came before this attempt {}: judged alone; run {} takes its "
                                "place (superseded) once it is judged",
                                higher->head.attempt, head.attempt, higher->head.id)}};
  Samples samples;
  for (const store::RunRecord& record : records) {
    const bool counts = record.head.id != head.id && record.status == store::RunStatus::judged &&
                        record.comparable_key == key && !record.superseded && !store::supersedes(head, record.head);
    if (!counts) continue;
    TRACEWEIR_TRY(earlier, report::from_json(record.report_json));
    samples.runs.push_back(judged_run(record.head, earlier));
  }
  samples.runs.push_back(judged_run(head, report));
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

}  // namespace

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

Result<JudgedVerdict> judge_run(store::Store& store, const JudgeQuestion& question) {
  TRACEWEIR_TRY(baseline, baseline_for(store, question.head, question.policy, question.comparable_key));
  TRACEWEIR_TRY(samples, samples_of(store, question.head, question.report, question.comparable_key));
  JudgedVerdict judged;
  judged.place = baseline.place;
  judged.verdict = gate::judge(samples.runs, baseline, question.policy);
  judged.in_baseline = may_be_baseline(judged.verdict, judged.place);
  judged.inputs = {"",
                   question.report.analyzer_version,
                   question.report.classifier,
                   std::move(samples.runs),
                   std::move(baseline),
                   std::move(samples.notes)};
  return judged;
}

}  // namespace traceweir::pipeline
