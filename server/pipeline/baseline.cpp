#include "server/pipeline/baseline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "gate/metric_facts.hpp"
#include "gate/segments.hpp"
#include "server/pipeline/judging.hpp"
#include "server/pipeline/lineage.hpp"
#include "server/pipeline/pinned.hpp"
#include "server/wire/timestamp.hpp"

namespace traceweir::pipeline {
namespace {

/// How far back along the first parents a baseline is looked for.
constexpr std::int64_t ancestors_max = 1000;
/// How many comparable runs the noise is estimated from. Source: spec of the gate, section 2.
constexpr std::int64_t noise_runs_max = 100;

/// How many lines that do not lead to a commit are looked at.
constexpr int other_lines_max = 3;

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
  std::vector<std::string> ancestors{};  ///< empty: not known
};

Result<Found> along_the_ancestry(store::Store& store, const store::RunHead& head, store::BaselineQuery query) {
  TRACEWEIR_TRY(start, start_of(store, head));
  if (start.empty()) return Found{};
  TRACEWEIR_TRY(ancestors, store.first_parents(head.project, start, ancestors_max));
  query.commits = ancestors;  // the answer comes in their order, the nearest commit first
  query.before_run.clear();   // ancestry decides here, not the time of the upload
  TRACEWEIR_TRY(rows, store.baseline(query));
  if (rows.empty()) return Found{};
  Found found{std::move(rows), "known", {}, std::move(ancestors)};
  if (found.rows.front().commit != start)
    found.notes.push_back(
        fmt::format("commit {} has no run that can be compared with (none, of another class, or failed); the nearest "
                    "ancestor that has one is {}",
                    start.substr(0, 12), found.rows.front().commit.substr(0, 12)));
  return found;
}

/// Takes away runs of commits that come after the one that is judged: a back-filled run is no follower of these.
/// Commits that nobody registered are no followers; three lines that do not lead to the commit end the search.
Result<void> leave_out_followers(store::Store& store, const store::RunHead& head,
                                 std::vector<store::BaselineRow>& rows) {
  std::set<std::string> followers, others;
  int other_lines = 0;
  for (const store::BaselineRow& row : rows) {
    if (followers.contains(row.commit) || others.contains(row.commit)) continue;
    TRACEWEIR_TRY(line, store.first_parents(head.project, row.commit, ancestors_max));
    const auto own = std::find(line.begin(), line.end(), head.commit);
    if (own != line.end()) followers.insert(line.begin(), own);
    if (own == line.end()) others.insert(line.begin(), line.end()), others.insert(row.commit);
    if (own == line.end() && ++other_lines == other_lines_max) break;
  }
  std::erase_if(rows, [&followers](const store::BaselineRow& row) { return followers.contains(row.commit); });
  return {};
}

Result<Found> by_time(store::Store& store, const store::RunHead& head, const store::BaselineQuery& query) {
  TRACEWEIR_TRY(rows, store.baseline(query));
  TRACEWEIR_TRY_VOID(leave_out_followers(store, head, rows));
  if (rows.empty()) return Found{{}, "none", {}};
  return Found{
      std::move(rows),
      "unknown",
      {fmt::format("the commit graph does not tell the ancestors of this commit: compared with the newest runs "
                   "of {} received before it",
                   query.branch)}};
}

bool has_patterns(const gate::Policy& policy) {
  return std::any_of(policy.rules.begin(), policy.rules.end(),
                     [](const gate::Rule& rule) { return rule.metric.find('*') != std::string::npos; });
}

/// What is asked for, and what a pattern finds in the runs that are compared with: a metric that they have and this run
/// has not is missing, not unknown.
std::vector<std::string> metrics_in(const BaselineQuestion& question, std::span<const store::BaselineRow> rows) {
  if (!has_patterns(question.policy)) return question.metrics;
  std::set<std::string> known(question.metrics.begin(), question.metrics.end());
  std::vector<std::string> measured;
  for (const store::BaselineRow& row : rows)
    for (const auto& [metric, value] : row.values)
      if (known.insert(metric).second) measured.push_back(metric);
  std::vector<std::string> metrics = question.metrics;
  for (const gate::Rule& rule : gate::rules_for(question.policy, measured))
    if (std::find(metrics.begin(), metrics.end(), rule.metric) == metrics.end()) metrics.push_back(rule.metric);
  return metrics;
}

store::BaselineQuery query_of(const BaselineQuestion& question) {
  store::BaselineQuery query;
  query.project = question.head.project;
  query.workload = question.head.workload;
  query.branch = baseline_branch(question.head, question.policy);
  query.comparable_key = question.comparable_key;
  query.not_commit = question.head.commit;
  query.before_run = question.head.id;
  query.limit = noise_runs_max;
  if (!has_patterns(question.policy)) query.metrics = question.metrics;
  query.since = wire::from_rfc3339(question.policy.baseline.epoch);
  query.now = question.now;
  query.leaning = question.leaning;
  return query;
}

/// The acceptances that are in force among comparable runs, newest first.
Result<std::vector<store::Acceptance>> acceptances_for(store::Store& store, const BaselineQuestion& question) {
  if (question.leaning == store::Leaning::never) return std::vector<store::Acceptance>{};
  return store.acceptances({.project = question.head.project,
                            .workload = question.head.workload,
                            .comparable_key = question.comparable_key,
                            .in_force_at = question.now});
}

gate::Acceptance as_judged(const store::Acceptance& acceptance, const std::string& metric) {
  const std::string until = acceptance.until ? wire::to_rfc3339(*acceptance.until).substr(0, 10) : "";
  return {acceptance.run, acceptance.commit, acceptance.values.at(metric), acceptance.author, acceptance.reason, until};
}

/// An acceptance that speaks to the run.
struct Speaking {
  const store::Acceptance* acceptance;
  std::size_t distance;  ///< how far back
  std::size_t rows;      ///< how many of the newest rows are of its level, or come after it
};

/// Nearest first; of those equally near the one that was made last.
std::vector<Speaking> speaking_of(std::span<const store::Acceptance> acceptances, const Ancestry& ancestry,
                                  std::span<const store::BaselineRow> rows) {
  std::vector<Speaking> speaking;
  for (const store::Acceptance& acceptance : acceptances)
    if (const auto distance = ancestry.distance(acceptance))
      speaking.push_back({&acceptance, *distance, ancestry.rows_since(acceptance, rows)});
  std::stable_sort(speaking.begin(), speaking.end(), [](const Speaking& a, const Speaking& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.rows < b.rows;
  });
  return speaking;
}

/// What the values of the job's own metrics are: a series keeps values only, so the newest run that measures one tells.
/// Errors: what the store says.   Cost: reads one report, or a few where no run measures all; none without such
/// metrics.
Result<std::map<std::string, gate::ValueKind>> kinds_in(store::Store& store, const BaselineQuestion& question,
                                                        std::span<const store::BaselineRow> rows) {
  std::map<std::string, gate::ValueKind> kinds;
  for (const std::string& metric : question.metrics) {
    if (!is_custom(metric) || kinds.contains(metric)) continue;
    const auto newest = std::find_if(rows.begin(), rows.end(),
                                     [&metric](const store::BaselineRow& row) { return row.values.contains(metric); });
    if (newest == rows.end()) continue;
    TRACEWEIR_TRY(run, store.run(question.head.project, newest->run));
    if (!run) continue;
    TRACEWEIR_TRY(report, report::from_json(run->report_json));
    for (const metrics::Measurement& row : judged_run(run->head, report).measurements)
      if (is_custom(row.metric) && row.value) kinds.try_emplace(row.metric, gate::ValueKind{row.unit, row.better});
  }
  return kinds;
}

/// Fills the series of one metric, numbers its segments, and notes what began the current one.
void add_series(const std::string& metric, std::span<const store::BaselineRow> rows, std::span<const Speaking> speaking,
                const gate::Policy& policy, FoundBaseline& found) {
  const auto kind = found.baseline.kinds.find(metric);
  const bool has_kind = kind != found.baseline.kinds.end();
  const Better side = side_of(policy, metric, has_kind ? kind->second.better : Better::none);
  std::vector<gate::BaselinePoint> points;
  std::vector<std::size_t> points_until{0};  // how many of the newest rows' points there are
  for (const store::BaselineRow& row : rows) {
    if (const auto value = row.values.find(metric); value != row.values.end())
      points.push_back({row.run, row.commit, value->second, 0});
    points_until.push_back(points.size());
  }
  std::vector<std::size_t> accepted;
  const Speaking* newest = nullptr;
  for (const Speaking& each : speaking) {
    if (!each.acceptance->values.contains(metric)) continue;
    if (newest == nullptr) newest = &each;
    accepted.push_back(points.size() - points_until[each.rows]);
  }
  const std::vector<std::size_t> starts = gate::number_segments(points, side, policy.baseline.min_runs, accepted);
  if (newest != nullptr) {
    found.speaking[metric] = newest->acceptance->id;
    if (starts.back() == accepted.front()) found.baseline.accepted[metric] = as_judged(*newest->acceptance, metric);
  }
  if (!points.empty()) found.baseline.series[metric] = std::move(points);
}

/// The pin moves to the newest level that was accepted since: along the ancestry, or in the order of receipt.
void move_pin(const PinnedRuns& pinned, std::span<const Speaking> speaking, const Ancestry& ancestry,
              gate::PinnedBaseline& pin) {
  const auto of_pin = ancestry.distance(pinned.commit);
  for (const Speaking& each : speaking) {
    const bool is_newer = of_pin ? each.distance < *of_pin : each.acceptance->run_received_at > pinned.received_at;
    if (!is_newer) continue;
    for (const auto& [metric, value] : each.acceptance->values)
      if (!pin.accepted.contains(metric)) pin.accepted[metric] = as_judged(*each.acceptance, metric);
  }
}

/// Errors: what the store says.
Result<void> add_pin(store::Store& store, const BaselineQuestion& question, std::span<const Speaking> speaking,
                     const Ancestry& ancestry, gate::Baseline& baseline) {
  const std::string& name = question.policy.baseline.pinned;
  if (name.empty()) return {};
  TRACEWEIR_TRY(pinned, pinned_runs(store, question.head, name, question.comparable_key));
  baseline.pinned = pinned.baseline;
  move_pin(pinned, speaking, ancestry, *baseline.pinned);
  return {};
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

Better side_of(const gate::Policy& policy, const std::string& metric, Better own) {
  for (const gate::Rule& rule : policy.rules)
    if (rule.direction && gate::matches(rule.metric, metric)) return *rule.direction;
  if (is_custom(metric)) return own;
  const auto info = gate::metric_info(metric);
  return info ? info->better : Better::none;
}

Result<FoundBaseline> baseline_for(store::Store& store, const BaselineQuestion& question) {
  const store::BaselineQuery query = query_of(question);
  TRACEWEIR_TRY(found, along_the_ancestry(store, question.head, query));
  if (found.rows.empty()) {
    TRACEWEIR_TRY(newest, by_time(store, question.head, query));
    found = std::move(newest);
  }
  TRACEWEIR_TRY(others, store.other_class_runs(query));
  TRACEWEIR_TRY(acceptances, acceptances_for(store, question));
  Lineage lineage{question.head, query.branch, found.ancestors, {}};
  if (!acceptances.empty()) {
    TRACEWEIR_TRY(own, store.first_parents(question.head.project, question.head.commit, ancestors_max));
    lineage.own = std::move(own);
  }
  const Ancestry ancestry(lineage);
  const std::vector<Speaking> speaking = speaking_of(acceptances, ancestry, found.rows);

  FoundBaseline out;
  TRACEWEIR_TRY(kinds, kinds_in(store, question, found.rows));
  out.baseline.kinds = std::move(kinds);
  TRACEWEIR_TRY_VOID(add_pin(store, question, speaking, ancestry, out.baseline));
  out.baseline.branch = query.branch;
  out.baseline.ancestry = found.ancestry;
  out.baseline.notes = found.notes;
  out.baseline.other_class_runs = others;
  out.baseline.place = place_of(question.head, question.policy);
  for (const store::BaselineRow& row : found.rows) out.baseline.runs.push_back(row.run);
  for (const std::string& metric : metrics_in(question, found.rows))
    add_series(metric, found.rows, speaking, question.policy, out);
  return out;
}

}  // namespace traceweir::pipeline
