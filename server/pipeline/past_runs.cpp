#include "server/pipeline/past_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "analyzer/report/report.hpp"
#include "gate/finding_rule.hpp"
#include "gate/metric_facts.hpp"
#include "server/pipeline/baseline.hpp"
#include "server/pipeline/comparable.hpp"
#include "server/pipeline/judging.hpp"
#include "server/wire/timestamp.hpp"

namespace traceweir::pipeline {
namespace {

/// Commits off the newest run's line (rebases, force pushes) whose own lines are looked for.
constexpr int further_lines_max = 50;
constexpr std::int64_t newest_looked_at = 20;

struct Newest {
  store::RunRecord run;
  report::Report report;
};

/// The newest run that may be compared with, else the newest of the branch; nothing: it has none.
Result<std::optional<Newest>> newest_of(store::Store& store, const LaneName& lane) {
  TRACEWEIR_TRY(
      runs,
      store.runs(
          {.project = lane.project, .branch = lane.branch, .workload = lane.workload, .limit = newest_looked_at}));
  std::erase_if(runs, [](const store::RunRecord& run) {
    return run.status != store::RunStatus::judged || run.head.pull_request || run.head.fork;
  });
  if (runs.empty()) return std::optional<Newest>{};
  const auto counts = [](const store::RunRecord& run) { return run.in_baseline; };
  const auto found = std::find_if(runs.begin(), runs.end(), counts);
  TRACEWEIR_TRY(run, store.run(lane.project, (found == runs.end() ? runs.front() : *found).head.id));
  if (!run) return std::optional<Newest>{};
  TRACEWEIR_TRY(report, report::from_json(run->report_json));
  return std::optional(Newest{*std::move(run), std::move(report)});
}

/// A run that would come next on the branch.
store::RunHead next_head(const LaneName& lane, const store::RunHead& newest) {
  store::RunHead head;
  head.project = lane.project;
  head.workload = lane.workload;
  head.branch = head.base_branch = lane.branch;
  head.base = newest.commit;
  return head;
}

// ---- the history of a branch

/// What the policy looks at in a run, as the newest run's report tells it.
struct Column {
  std::string metric;
  Unit unit;
  Better better = Better::none;
};

std::vector<Column> columns_of(const gate::Policy& policy, const report::Report& report) {
  std::vector<std::string> measured;
  std::map<std::string, metrics::Measurement> rows;
  for (const metrics::RunMeasurement& row : report.measurements) {
    measured.push_back(row.mean.metric);
    rows[row.mean.metric] = metrics::in_base_unit(row.mean);
  }
  std::vector<Column> columns;
  for (const gate::Rule& rule : gate::rules_for(policy, measured)) {
    const auto info = gate::metric_info(rule.metric);
    if (!info) continue;
    const auto row = rows.find(rule.metric);
    const bool is_own = is_custom(rule.metric) && row != rows.end();
    columns.push_back(
        {rule.metric, is_own ? row->second.unit : info->unit, is_own ? row->second.better : info->better});
  }
  // A policy of findings alone is about runs that any metric tells of.
  for (const auto& [metric, row] : rows)
    if (columns.empty() && row.value) columns.push_back({metric, row.unit, row.better});
  return columns;
}

/// One run of the history, as it is gathered from its metrics' series.
struct Gathered {
  gate::PastRun past;
  store::Timestamp received{};
  std::optional<gate::Outcome> outcome;
};
using Runs = std::map<std::string, Gathered>;

/// Errors: what the store says.
Result<void> gather(store::Store& store, const PastQuestion& question, const Column& column, Runs& runs) {
  store::HistoryQuery query;
  query.project = question.lane.project;
  query.workload = question.lane.workload;
  query.branch = question.lane.branch;
  query.metric = column.metric;
  query.limit = question.limit;
  TRACEWEIR_TRY(points, store.history(query));
  for (const store::HistoryPoint& point : points) {
    Gathered& run = runs[point.run];
    run.past.run.id = point.run;
    run.past.commit = point.commit;
    run.past.environment = point.comparable_key;
    run.past.run.measurements.push_back({column.metric, Number(point.value), column.unit, column.better, std::nullopt});
    run.received = point.uploaded_at;
    run.outcome = point.outcome;
    if (point.accepted) run.past.accepted.insert(column.metric);
  }
  return {};
}

/// The ids of whole runs of the branch, of all classes, failed or not. Errors: what the store says.
Result<std::set<std::string>> whole_runs(store::Store& store, const PastQuestion& question, const Runs& runs) {
  std::set<std::string> classes, ids;
  for (const auto& [id, run] : runs) classes.insert(run.past.environment);
  for (const std::string& key : classes) {
    store::SeriesQuery query;
    query.key = {question.lane.project, question.lane.workload, question.lane.branch, key};
    query.limit = question.limit;
    TRACEWEIR_TRY(series, store.series(query));
    for (const store::SeriesRun& run : series.runs) ids.insert(run.run);
  }
  return ids;
}

/// In order of receipt. A run that failed, or waits for confirmation, is one of the branch: it left the baseline for
/// that alone, and this policy may say otherwise.
Result<std::vector<Gathered>> runs_of(store::Store& store, const PastQuestion& question,
                                      const std::vector<Column>& columns, std::vector<std::string>& notes) {
  Runs runs;
  for (const Column& column : columns) TRACEWEIR_TRY_VOID(gather(store, question, column, runs));
  TRACEWEIR_TRY(whole, whole_runs(store, question, runs));
  const auto epoch = wire::from_rfc3339(question.policy.baseline.epoch);
  std::vector<Gathered> kept;
  std::int64_t left_out = 0;
  for (auto& [id, run] : runs) {
    const bool counts = whole.contains(id) || run.outcome == gate::Outcome::fail;
    if (!counts) ++left_out;
    if (counts && (!epoch || run.received >= *epoch)) kept.push_back(std::move(run));
  }
  if (left_out > 0)
    notes.push_back(fmt::format("Left out: {} of pull requests, superseded, or not whole.",
                                left_out == 1 ? "1 run" : fmt::format("{} runs", left_out)));
  std::sort(kept.begin(), kept.end(), [](const Gathered& a, const Gathered& b) {
    return std::tie(a.received, a.past.run.id) < std::tie(b.received, b.past.run.id);
  });
  const auto limit = static_cast<std::size_t>(std::max<std::int64_t>(question.limit, 0));
  if (kept.size() > limit) kept.erase(kept.begin(), kept.end() - question.limit);
  return kept;
}

/// First parents as far as they are known, from the newest run back, and of commits off that line.
Result<std::unordered_map<std::string, std::string>> parents_of(store::Store& store, const PastQuestion& question,
                                                                const std::vector<Gathered>& runs) {
  std::unordered_map<std::string, std::string> parents;
  std::set<std::string> known;
  int lines = 0;
  for (auto run = runs.rbegin(); run != runs.rend() && lines <= further_lines_max; ++run) {
    if (known.contains(run->past.commit)) continue;
    ++lines;
    TRACEWEIR_TRY(line, store.first_parents(question.lane.project, run->past.commit, question.limit + 1));
    known.insert(run->past.commit);
    for (std::size_t i = 0; i + 1 < line.size(); ++i) parents[line[i]] = line[i + 1];
    known.insert(line.begin(), line.end());
  }
  return parents;
}

/// What rules on findings look at: the findings, and what tells whether they could be made.
void take_findings(gate::JudgedRun&& from, gate::JudgedRun& run) {
  run.findings = std::move(from.findings);
  run.ranks_expected = from.ranks_expected, run.ranks_present = from.ranks_present;
  for (metrics::Measurement& row : from.measurements) {
    const auto evidence = gate::finding_evidence();
    const auto same = [&row](const metrics::Measurement& known) { return known.metric == row.metric; };
    const bool wanted = std::find(evidence.begin(), evidence.end(), row.metric) != evidence.end();
    if (wanted && std::none_of(run.measurements.begin(), run.measurements.end(), same))
      run.measurements.push_back(std::move(row));
  }
}

/// Findings of the newest runs, from their reports.
Result<void> add_findings(store::Store& store, const PastQuestion& question, std::vector<Gathered>& runs,
                          std::vector<std::string>& notes) {
  for (Gathered& run : runs) run.past.findings_known = false;
  if (question.policy.findings.empty()) return {};
  const std::size_t first = runs.size() - std::min(runs.size(), past_reports_max);
  for (std::size_t i = first; i < runs.size(); ++i) {
    TRACEWEIR_TRY(record, store.run(question.lane.project, runs[i].past.run.id));
    if (!record) continue;
    TRACEWEIR_TRY(report, report::from_json(record->report_json));
    take_findings(judged_run(record->head, report), runs[i].past.run);
    runs[i].past.findings_known = true;
  }
  if (first > 0) notes.push_back(fmt::format("Rules on findings are tried on the newest {} runs.", past_reports_max));
  return {};
}

void note_limits(const gate::Policy& policy, std::vector<std::string>& notes) {
  if (policy.environment_match != gate::Policy{}.environment_match)
    notes.push_back("Environments are told apart as they were when the runs were judged, not by environment.match.");
  if (!policy.baseline.pinned.empty())
    notes.push_back(
        fmt::format("Nothing is judged against {}: a backtest has no pinned baseline.", policy.baseline.pinned));
  for (const gate::Rule& rule : policy.rules)
    if (rule.confirm > 1) {
      notes.push_back("Rules with confirm fail on commits alone that were measured as often.");
      break;
    }
}

}  // namespace

Result<std::vector<gate::RuleOutlook>> outlook_for(store::Store& store, const LaneName& lane,
                                                   const gate::Policy& policy, store::Timestamp now) {
  TRACEWEIR_TRY(newest, newest_of(store, lane));
  if (!newest) {
    gate::Baseline none;
    none.branch = lane.branch;
    return gate::outlook_of(policy, none, {});
  }
  const std::string key = comparable_key(newest->report, newest->run.head.environment, policy.environment_match);
  const gate::JudgedRun last = judged_run(newest->run.head, newest->report);
  const std::vector<std::string> metrics = asked_metrics(policy, newest->report);
  const store::RunHead next = next_head(lane, newest->run.head);
  TRACEWEIR_TRY(found, baseline_for(store, {next, policy, key, metrics, now}));
  return gate::outlook_of(policy, found.baseline, last);
}

Result<PastAnswer> backtest_past(store::Store& store, const PastQuestion& question) {
  PastAnswer answer;
  TRACEWEIR_TRY(newest, newest_of(store, question.lane));
  note_limits(question.policy, answer.notes);
  if (!newest) return answer;
  TRACEWEIR_TRY(runs, runs_of(store, question, columns_of(question.policy, newest->report), answer.notes));
  TRACEWEIR_TRY_VOID(add_findings(store, question, runs, answer.notes));
  TRACEWEIR_TRY(parents, parents_of(store, question, runs));
  std::vector<gate::PastRun> past;
  for (Gathered& run : runs) {
    run.past.shown = !question.since || run.received >= *question.since;
    past.push_back(std::move(run.past));
  }
  // From here on the store is not needed any more.
  answer.backtest = gate::backtest_lane({question.policy, past, parents, question.lane.branch});
  return answer;
}

}  // namespace traceweir::pipeline
