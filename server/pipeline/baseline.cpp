#include "server/pipeline/baseline.hpp"

#include <fmt/format.h>

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

  gate::Baseline baseline;
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
  return baseline;
}

}  // namespace traceweir::pipeline
