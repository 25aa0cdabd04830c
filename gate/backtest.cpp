#include "gate/backtest.hpp"

#include <algorithm>
#include <string>

#include "gate/history.hpp"
#include "gate/judge_rule.hpp"
#include "gate/segments.hpp"

namespace traceweir::gate {
namespace {

/// The values so far, and what is known of them.
class Backtesting {
 public:
  explicit Backtesting(const BacktestQuestion& question) : q_(question), scan_(question.changes) {
    context_.branch = "the series";
    context_.ancestry = "known";
  }

  Backtest result() {
    Backtest out;
    for (std::size_t i = 0; i < q_.values.size(); ++i) {
      RuleResult judged = judge_value(i);
      counts_.push_back(judged.outcome != Outcome::fail);
      // What failed before its level was accepted is of that level.
      if (is_accepted(i)) accepted_.push_back(i), counts_.back() = true;
      scan_.append(q_.values[i]);
      out.judged += is_judged(judged.reason) ? 1 : 0;
      out.failed += judged.outcome == Outcome::fail ? 1 : 0;
      out.warned += judged.outcome == Outcome::warn ? 1 : 0;
      out.points.push_back({i, q_.values[i], std::move(judged)});
    }
    out.change_points = scan_.points();
    out.alarms = alarms_in(out);
    return out;
  }

 private:
  [[nodiscard]] bool is_accepted(std::size_t index) const {
    return std::find(q_.accepted.begin(), q_.accepted.end(), index) != q_.accepted.end();
  }

  RuleResult judge_value(std::size_t index) {
    const std::vector<ChangePoint> changes = scan_.points();
    std::vector<std::size_t> starts =
        segment_starts({changes, counts_, accepted_, q_.rule.direction.value_or(q_.info.better), q_.baseline.min_runs});
    if (is_accepted(index)) starts.push_back(index);
    const std::vector<BaselinePoint> points = points_before(index, starts);
    const std::optional<Acceptance> acceptance = acceptance_at(starts);
    const std::vector<double> observed{q_.values[index]};
    RuleCase rule_case{q_.rule, q_.info, observed, std::nullopt, points, context_, q_.baseline};
    rule_case.acceptance = acceptance ? &*acceptance : nullptr;
    return judge_rule(rule_case);
  }

  /// Newest first, as many as the noise is pooled over.
  [[nodiscard]] std::vector<BaselinePoint> points_before(std::size_t index,
                                                         const std::vector<std::size_t>& starts) const {
    std::vector<BaselinePoint> points;
    for (std::size_t i = index; i-- > 0 && points.size() < noise_runs_max;) {
      if (!counts_[i]) continue;
      const auto later = starts.end() - std::upper_bound(starts.begin(), starts.end(), i);
      points.push_back({std::to_string(i), {}, q_.values[i], static_cast<std::int64_t>(later)});
    }
    return points;
  }

  /// The acceptance that began the current segment, if one did.
  [[nodiscard]] std::optional<Acceptance> acceptance_at(const std::vector<std::size_t>& starts) const {
    if (starts.empty() || !is_accepted(starts.back())) return std::nullopt;
    const std::size_t from = starts.back();
    return Acceptance{std::to_string(from), {}, q_.values[from], {}, {}, {}};
  }

  /// Neighbouring failures are one alarm.
  static std::vector<Alarm> alarms_in(const Backtest& test) {
    std::vector<Alarm> alarms;
    for (const BacktestPoint& point : test.points) {
      if (point.result.outcome != Outcome::fail) continue;
      if (alarms.empty() || alarms.back().end != point.index) alarms.push_back({point.index, point.index});
      alarms.back().end = point.index + 1;
    }
    for (Alarm& alarm : alarms) {
      const RuleResult& first = test.points[alarm.begin].result;
      const auto level = first.baseline ? std::optional(first.baseline->level) : std::nullopt;
      const bool is_change = is_of_a_changed_level({alarm.begin, alarm.end, level, first.fails_at}, test.change_points);
      alarm.recovered = alarm.end < test.points.size() && !is_change;
    }
    return alarms;
  }

  const BacktestQuestion& q_;
  ChangePointScan scan_;
  std::vector<char> counts_;           ///< of each value so far: whether it is in the baseline
  std::vector<std::size_t> accepted_;  ///< so far
  Baseline context_;
};

}  // namespace

Backtest backtest(const BacktestQuestion& question) { return Backtesting(question).result(); }

}  // namespace traceweir::gate
