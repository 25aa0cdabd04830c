#include "gate/lane_backtest.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "gate/change_points.hpp"
#include "gate/history.hpp"
#include "gate/judge_rule.hpp"
#include "gate/membership.hpp"
#include "gate/metric_facts.hpp"
#include "gate/segments.hpp"

namespace traceweir::gate {
namespace {

/// How far back along the first parents a baseline is looked for, as where runs are judged.
constexpr int ancestors_max = 1000;
constexpr std::size_t none = static_cast<std::size_t>(-1);

bool spoils(const RuleResult& rule) {
  return rule.reason == Reason::data_loss || rule.reason == Reason::missing_rank ||
         rule.reason == Reason::untrusted_data;
}

bool is_failure(const RuleResult& rule) { return rule.outcome == Outcome::fail; }
bool is_decided(const RuleResult& rule) { return is_judged(rule.reason); }
bool is_about_finding(const RuleResult& rule) { return rule.metric.starts_with("finding:"); }

/// One rule's results in the order of the runs.
struct Told {
  std::size_t run;
  bool failed;
  std::optional<double> value, level, fails_at;
};

/// What is known so far of a commit in one environment.
struct CommitState {
  std::vector<std::size_t> runs;  ///< whole ones
  bool found = false;             ///< a finding of any of them keeps it out
  bool accepted = false;
};

class LaneBacktesting {
 public:
  explicit LaneBacktesting(const LaneQuestion& question) : q_(question) {
    std::set<std::string> measured;
    for (const PastRun& past : q_.runs)
      for (const metrics::Measurement& row : past.run.measurements) measured.insert(row.metric);
    const std::vector<std::string> ids(measured.begin(), measured.end());
    for (const Rule& rule : rules_for(q_.policy, ids)) metrics_.push_back(rule.metric);
    for (const PastRun& past : q_.runs) place_of(past.commit);
    for (std::size_t i = 0; i < commits_.size(); ++i) add_parent(i);
    runs_at_.resize(commits_.size());
    counts_.resize(q_.runs.size());
    labels_.reserve(q_.runs.size());
    for (std::size_t i = 0; i < q_.runs.size(); ++i) labels_.push_back(std::to_string(i));
    take_values();
  }

  LaneBacktest result() {
    LaneBacktest out;
    std::set<std::string> failed;
    for (std::size_t i = 0; i < q_.runs.size(); ++i) {
      const std::vector<RuleResult> rules = tried_on(i);
      for (const RuleResult& rule : rules) note(i, rule);
      const bool fails = std::any_of(rules.begin(), rules.end(), is_failure);
      if (std::none_of(rules.begin(), rules.end(), spoils)) settle(i, rules);
      if (!q_.runs[i].shown) continue;
      ++out.runs;
      out.judged += std::any_of(rules.begin(), rules.end(), is_decided) ? 1 : 0;
      if (fails) failed.insert(q_.runs[i].commit);
    }
    out.failed_commits = std::ssize(failed);
    for (auto& [metric, told] : told_) out.rules.push_back(summary(metric, told));
    return out;
  }

 private:
  // ---- commits as numbers

  std::size_t place_of(const std::string& commit) {
    const auto [it, added] = places_.try_emplace(commit, commits_.size());
    if (added) commits_.push_back(commit);
    return it->second;
  }
  void add_parent(std::size_t place) {
    const auto found = q_.parents.find(commits_[place]);
    parents_.push_back(found == q_.parents.end() ? none : place_of(found->second));
  }

  void take_values() {
    for (const std::string& metric : metrics_) {
      std::vector<std::optional<double>>& values = values_[metric];
      for (const PastRun& past : q_.runs) {
        const auto& rows = past.run.measurements;
        const auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& m) { return m.metric == metric; });
        const bool usable = row != rows.end() && row->value && std::abs(as_double(*row->value)) <= 1e150;
        values.push_back(usable ? std::optional(as_double(*row->value)) : std::nullopt);
      }
    }
  }

  // ---- the baseline of a run

  /// What is found of a commit with its newest run holds for all its runs: they are compared with together, or not at
  /// all. Values are the commit's; findings are each run's own, so that one of an earlier run still counts.
  void settle(std::size_t run, const std::vector<RuleResult>& rules) {
    CommitState& state = states_[{q_.runs[run].commit, q_.runs[run].environment}];
    const auto by_value = [](const RuleResult& rule) { return !is_about_finding(rule) && keeps_out(rule); };
    const auto by_finding = [](const RuleResult& rule) { return is_about_finding(rule) && keeps_out(rule); };
    state.found = state.found || std::any_of(rules.begin(), rules.end(), by_finding);
    state.accepted = state.accepted || !q_.runs[run].accepted.empty();
    state.runs.push_back(run);
    runs_at_[places_.at(q_.runs[run].commit)].push_back(run);
    whole_.push_back(run);
    const bool counts = state.accepted || (!state.found && std::none_of(rules.begin(), rules.end(), by_value));
    for (const std::size_t other : state.runs) counts_[other] = counts ? 1 : 0;
  }

  [[nodiscard]] bool is_comparable(std::size_t run, std::size_t other) const {
    return counts_[other] == 1 && q_.runs[run].environment == q_.runs[other].environment &&
           q_.runs[run].commit != q_.runs[other].commit;
  }

  /// Newest first; empty where the graph does not tell.
  [[nodiscard]] std::vector<std::size_t> along_the_ancestry(std::size_t run) const {
    std::vector<std::size_t> found;
    std::size_t commit = parents_[places_.at(q_.runs[run].commit)];
    // A graph that somebody made up may be a circle: the walk has an end.
    for (int passed = 0; commit != none && passed < ancestors_max && found.size() < noise_runs_max; ++passed) {
      const std::vector<std::size_t>& runs = runs_at_[commit];
      for (auto it = runs.rbegin(); it != runs.rend() && found.size() < noise_runs_max; ++it)
        if (is_comparable(run, *it)) found.push_back(*it);
      commit = parents_[commit];
    }
    return found;
  }

  [[nodiscard]] std::vector<std::size_t> by_time(std::size_t run) const {
    std::vector<std::size_t> found;
    for (auto it = whole_.rbegin(); it != whole_.rend() && found.size() < noise_runs_max; ++it)
      if (is_comparable(run, *it)) found.push_back(*it);
    return found;
  }

  void add_series(std::size_t run, const std::string& metric, const std::vector<std::size_t>& from,
                  Baseline& baseline) const {
    const std::vector<std::optional<double>>& values = values_.at(metric);
    std::vector<BaselinePoint> points;
    std::vector<std::size_t> accepted;  // of the points, newest first
    for (const std::size_t other : from) {
      if (!values[other]) continue;
      if (q_.runs[other].accepted.contains(metric)) accepted.push_back(points.size());
      points.push_back({labels_[other], "", *values[other], 0});
    }
    for (std::size_t& index : accepted) index = points.size() - 1 - index;
    const bool own = q_.runs[run].accepted.contains(metric) && values[run];
    if (own) accepted.insert(accepted.begin(), points.size());
    const std::vector<std::size_t> starts =
        number_segments(points, side_of(run, metric), q_.policy.baseline.min_runs, accepted);
    if (!accepted.empty() && starts.back() == accepted.front()) {
      const double level = own ? *values[run] : points[points.size() - 1 - accepted.front()].value;
      baseline.accepted[metric] = {"accepted", "", level, "", "", ""};
    }
    if (!points.empty()) baseline.series[metric] = std::move(points);
  }

  /// The rule's, else the metric's; that of a metric of the job's own comes with its values.
  [[nodiscard]] Better side_of(std::size_t run, const std::string& metric) const {
    for (const Rule& rule : q_.policy.rules)
      if (rule.direction && matches(rule.metric, metric)) return *rule.direction;
    const auto& rows = q_.runs[run].run.measurements;
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& m) { return m.metric == metric; });
    if (is_custom(metric) && row != rows.end()) return row->better;
    const auto info = metric_info(metric);
    return info ? info->better : Better::none;
  }

  std::vector<RuleResult> tried_on(std::size_t run) {
    std::vector<RuleResult> rules = judge_run(run).rules;
    if (!q_.runs[run].findings_known) std::erase_if(rules, is_about_finding);
    return rules;
  }

  Verdict judge_run(std::size_t run) {
    std::vector<std::size_t> from = along_the_ancestry(run);
    Baseline baseline;
    baseline.ancestry = from.empty() ? "unknown" : "known";
    if (from.empty()) from = by_time(run);
    baseline.branch = q_.branch;
    for (const std::string& metric : metrics_) add_series(run, metric, from, baseline);
    return judge(samples_of(run), baseline, q_.policy);
  }

  /// The commit's runs so far, this one last.
  std::vector<JudgedRun> samples_of(std::size_t run) {
    std::vector<JudgedRun> samples;
    std::vector<std::size_t>& of_commit = samples_[q_.runs[run].commit];
    for (const std::size_t other : of_commit)
      if (q_.runs[other].environment == q_.runs[run].environment) samples.push_back(q_.runs[other].run);
    of_commit.push_back(run);
    samples.push_back(q_.runs[run].run);
    return samples;
  }

  // ---- what it comes to

  void note(std::size_t run, const RuleResult& rule) {
    LaneRule& row = rows_[rule.metric];
    row.metric = rule.metric;
    std::vector<Told>& told = told_[rule.metric];
    if (!q_.runs[run].shown) return;
    const bool fails = rule.outcome == Outcome::fail;
    const auto level = rule.baseline ? std::optional(rule.baseline->level) : std::nullopt;
    told.push_back({run, fails, rule.observed, level, rule.fails_at});
    row.judged += is_judged(rule.reason) ? 1 : 0;
    row.failed += fails ? 1 : 0;
    row.warned += rule.outcome == Outcome::warn ? 1 : 0;
    if (!fails || row.runs.size() >= lane_failures_max) return;
    row.runs.push_back(q_.runs[run].run.id);
    const std::string& commit = q_.runs[run].commit;
    if (std::find(row.commits.begin(), row.commits.end(), commit) == row.commits.end()) row.commits.push_back(commit);
  }

  LaneRule summary(const std::string& metric, const std::vector<Told>& told) {
    LaneRule row = std::move(rows_[metric]);
    std::map<std::string, std::vector<Told>> by_environment;
    for (const Told& one : told)
      if (one.value) by_environment[q_.runs[one.run].environment].push_back(one);
    for (const auto& [environment, series] : by_environment) count_alarms(series, row);
    return row;
  }

  /// Failures one after the other are one alarm. One that ends is a false one unless the level changed in it.
  static void count_alarms(const std::vector<Told>& series, LaneRule& row) {
    std::vector<double> values;
    for (const Told& one : series) values.push_back(one.value.value_or(0));
    const std::vector<ChangePoint> changes = change_points(values);
    for (std::size_t i = 0; i < series.size(); ++i) {
      if (!series[i].failed) continue;
      const std::size_t begin = i;
      while (i < series.size() && series[i].failed) ++i;
      const Told& first = series[begin];
      const bool changed = is_of_a_changed_level({begin, i, first.level, first.fails_at}, changes);
      ++row.alarms;
      row.recovered += i < series.size() && !changed ? 1 : 0;
    }
  }

  const LaneQuestion& q_;
  std::vector<std::string> metrics_;
  std::unordered_map<std::string, std::size_t> places_;
  std::vector<std::string> commits_;
  std::vector<std::size_t> parents_;                                   ///< place → place of the first parent
  std::vector<std::vector<std::size_t>> runs_at_;                      ///< place → whole runs so far, in order
  std::vector<std::size_t> whole_;                                     ///< the same of all commits
  std::vector<char> counts_;                                           ///< of each run: in the baseline so far
  std::map<std::pair<std::string, std::string>, CommitState> states_;  ///< by commit and environment
  std::vector<std::string> labels_;                                    ///< short names: points are copied often
  std::map<std::string, std::vector<std::optional<double>>> values_;   ///< metric → value of each run
  std::unordered_map<std::string, std::vector<std::size_t>> samples_;
  std::map<std::string, LaneRule> rows_;
  std::map<std::string, std::vector<Told>> told_;
};

}  // namespace

LaneBacktest backtest_lane(const LaneQuestion& question) { return LaneBacktesting(question).result(); }

}  // namespace traceweir::gate
