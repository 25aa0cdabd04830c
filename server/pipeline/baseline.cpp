#include "server/pipeline/baseline.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/core/uuid.hpp"
#include "gate/metric_facts.hpp"
#include "gate/segments.hpp"
#include "server/pipeline/pinned.hpp"
#include "server/wire/timestamp.hpp"

namespace traceweir::pipeline {
namespace {

/// How far back along the first parents a baseline is looked for.
constexpr std::int64_t ancestors_max = 1000;
/// How many comparable runs the noise is estimated from. Source: spec of the gate, section 2.
constexpr std::int64_t noise_runs_max = 100;

/// Where the walk along the first parents starts: the merge base, else the commit's own first parent.
Result<std::string> start_of(store::Store& store, const store::RunHead& head) {
  if (!head.base.empty() && head.base != head.commit) return head.base;
  TRACEWEIR_TRY(commit, store.commit(head.project, head.commit));
  if (!commit || commit->parents.empty()) return std::string{};
  return commit->parents.front();
}

struct Found {
  std::vector<store::BaselineRow> rows;
  std::string ancestry;
  std::vector<std::string> notes;
};

Result<Found> along_the_ancestry(store::Store& store, const store::RunHead& head, store::BaselineQuery query) {
  TRACEWEIR_TRY(start, start_of(store, head));
  if (start.empty()) return Found{};
  TRACEWEIR_TRY(ancestors, store.first_parents(head.project, start, ancestors_max));
  query.commits = ancestors;  // the answer comes in their order, the nearest commit first
  query.before_run.clear();   // ancestry decides here, not the time of the upload
  TRACEWEIR_TRY(rows, store.baseline(query));
  if (rows.empty()) return Found{};
  Found found{std::move(rows), "known", {}};
  if (found.rows.front().commit != start)
    found.notes.push_back(
        fmt::format("commit {} has no run that can be compared with (none, of another class, or failed); the nearest "
                    "ancestor that has one is {}",
                    start.substr(0, 12), found.rows.front().commit.substr(0, 12)));
  return found;
}

Result<Found> by_time(store::Store& store, const store::BaselineQuery& query) {
  TRACEWEIR_TRY(rows, store.baseline(query));
  if (rows.empty()) return Found{{}, "none", {}};
  return Found{
      std::move(rows),
      "unknown",
      {fmt::format("the commit graph does not tell the ancestors of this commit: compared with the newest runs "
                   "of {} received before it",
                   query.branch)}};
}

/// Nothing older than the policy's epoch counts. The rows are those received last, so leaving out older ones leaves out
/// nothing that a longer answer would have had.
void leave_out_older(std::vector<store::BaselineRow>& rows, const std::string& epoch) {
  const auto since = wire::from_rfc3339(epoch);
  if (!since) return;
  std::erase_if(rows, [&](const store::BaselineRow& row) {
    // The run's id says when it was received.
    const auto received = time_of_uuid_v7(row.run);
    return received && *received < since->time_since_epoch();
  });
}

/// The better side of a metric as the policy has it.
Better side_of(const gate::Policy& policy, const std::string& metric) {
  for (const gate::Rule& rule : policy.rules)
    if (rule.direction && gate::matches(rule.metric, metric)) return *rule.direction;
  const auto info = gate::metric_info(metric);
  return info ? info->better : Better::none;
}

/// A change for the better begins a new level by itself: a history that got faster and falls back is caught.
void number_segments(gate::Baseline& baseline, const gate::Policy& policy) {
  for (auto& [metric, points] : baseline.series)
    gate::number_segments(points, side_of(policy, metric), policy.baseline.min_runs);
}

}  // namespace

std::string baseline_branch(const store::RunHead& head, const gate::Policy& policy) {
  if (policy.baseline.branch) return *policy.baseline.branch;
  return head.base_branch.empty() ? "main" : head.base_branch;
}

gate::Baseline::Place place_of(const store::RunHead& head, const gate::Policy& policy) {
  const bool on_it = head.branch == baseline_branch(head, policy) && !head.pull_request && !head.fork;
  return on_it ? gate::Baseline::Place::baseline_branch : gate::Baseline::Place::elsewhere;
}

Result<gate::Baseline> baseline_for(store::Store& store, const store::RunHead& head, const gate::Policy& policy,
                                    const std::string& comparable_key) {
  store::BaselineQuery query;
  query.project = head.project;
  query.workload = head.workload;
  query.branch = baseline_branch(head, policy);
  query.comparable_key = comparable_key;
  query.not_commit = head.commit;
  query.before_run = head.id;
  query.limit = noise_runs_max;

  TRACEWEIR_TRY(found, along_the_ancestry(store, head, query));
  if (found.rows.empty()) {
    TRACEWEIR_TRY(newest, by_time(store, query));
    found = std::move(newest);
  }
  TRACEWEIR_TRY(others, store.other_class_runs(query));

  leave_out_older(found.rows, policy.baseline.epoch);
  gate::Baseline baseline;
  if (!policy.baseline.pinned.empty()) {
    TRACEWEIR_TRY(pinned, pinned_baseline(store, head, policy.baseline.pinned, comparable_key));
    baseline.pinned = std::move(pinned);
  }
  baseline.branch = query.branch;
  baseline.ancestry = found.ancestry;
  baseline.notes = found.notes;
  baseline.other_class_runs = others;
  baseline.place = place_of(head, policy);
  for (const store::BaselineRow& row : found.rows) {
    baseline.runs.push_back(row.run);
    for (const auto& [metric, value] : row.values)
      baseline.series[metric].push_back(gate::BaselinePoint{row.run, row.commit, value, 0});
  }
  number_segments(baseline, policy);
  return baseline;
}

}  // namespace traceweir::pipeline
