#include "gate/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "analyzer/core/assert.hpp"
#include "gate/metric_facts.hpp"
#include "gate/statistics.hpp"

namespace traceweir::gate {
namespace {

constexpr double rounding = 1e-12;
constexpr double infinite = std::numeric_limits<double>::infinity();

/// Works in distances on the history's scale: from the level, positive on the worse side.
class Comparing {
 public:
  explicit Comparing(const ComparisonQuestion& question)
      : q_(question), sign_(question.side == Better::lower ? 1.0 : -1.0), tolerance_(tolerance()) {
    for (const double value : q_.observed) distances_.push_back(distance_of(value));
    mean_ = mean(distances_);
    slack_ = q_.history.scale == Scale::logarithmic ? rounding : rounding * std::abs(q_.history.level);
  }

  [[nodiscard]] Comparison result() const {
    Comparison out;
    out.standing = standing();
    const double noise = has_noise() ? band(q_.history, runs_wanted(), tail()) : 0;
    out.noise_band = std::abs(value_at(noise) - q_.history.level_value);
    const double worse = value_at(noise), better = value_at(-noise);
    out.band = {q_.history.level_value, std::min(worse, better), std::max(worse, better)};
    out.unchanged = has_noise() && std::abs(mean_) <= std::min(q_.history.spread, tolerance_) + slack_;
    out.nearly_blind = tolerance_ > 0 && tolerance_ < infinite && noise > blind_tolerances * tolerance_;
    out.fails_at = possible_at(std::max(tolerance_, noise));
    if (const auto value = possible_at(detectable(noise))) out.detectable = std::abs(*value - q_.history.level_value);
    return out;
  }

 private:
  [[nodiscard]] std::int64_t runs() const { return std::ssize(distances_); }
  /// A rule that wants several runs is judged, at the earliest, with as many.
  [[nodiscard]] std::int64_t runs_wanted() const { return std::max(runs(), q_.rule.confirm); }
  [[nodiscard]] bool has_noise() const { return q_.rule.noise != Noise::none; }
  [[nodiscard]] double tail() const { return normal_tail(q_.rule.sigmas); }

  [[nodiscard]] double distance_of(double value) const {
    if (q_.history.scale == Scale::logarithmic)
      return value > 0 ? sign_ * (std::log(value) - q_.history.level) : infinite;
    return sign_ * (value - q_.history.level_value);
  }
  [[nodiscard]] double value_at(double distance) const {
    if (q_.history.scale == Scale::logarithmic) return q_.history.level_value * std::exp(sign_ * distance);
    return q_.history.level_value + sign_ * distance;
  }

  /// The distance that worse_by and at_least together tolerate; infinite where no value is so much worse.
  [[nodiscard]] double tolerance() const {
    const double level = q_.history.level_value;
    double worse = 0;
    if (const auto& by = q_.rule.worse_by)
      worse = by->kind == Tolerance::Kind::points ? by->value : by->value * std::abs(level);
    if (const auto& least = q_.rule.at_least) worse = std::max(worse, least->value);
    return distance_of(level + sign_ * worse);
  }

  [[nodiscard]] bool exceeds(double distance) const { return distance > tolerance_ + slack_; }
  /// What each of the runs that must agree has to be beyond. Being worse than the level is not enough: after one freak
  /// run every second one would agree with it.
  [[nodiscard]] double agreeing_distance() const {
    const bool alone = q_.rule.confirm == 1 || !has_noise();
    return alone ? tolerance_ : std::max(tolerance_, band(q_.history, 1, agreeing_tail));
  }
  [[nodiscard]] std::int64_t runs_that_agree() const {
    const double least = agreeing_distance() + slack_;
    return std::count_if(distances_.begin(), distances_.end(), [least](double d) { return d > least; });
  }

  /// The exact test replaces the band where both sides have enough runs to reach its probability.
  [[nodiscard]] bool ranks_decide() const {
    const std::size_t m = distances_.size(), n = q_.history.current.size();
    return q_.rule.noise == Noise::automatic && std::min(m, n) >= rank_test_runs_min &&
           m * n <= mann_whitney_pairs_max && mann_whitney_least(m, n) < tail();
  }

  /// Whether the runs are, on the side of `side` (1 worse, −1 better), beyond what noise does with probability `tail`.
  [[nodiscard]] bool is_beyond(double side, double probability) const {
    if (!has_noise()) return side * mean_ > slack_;
    if (!ranks_decide()) return side * mean_ > band(q_.history, runs(), probability) + slack_;
    // On the scale itself, not as distances: equal values must stay equal.
    std::vector<double> ours, theirs;
    for (const double value : q_.observed) ours.push_back(side * sign_ * to_scale(q_.history.scale, value));
    for (const double value : q_.history.current) theirs.push_back(side * sign_ * value);
    return mann_whitney_above(ours, theirs) < probability;
  }

  /// Whether one run alone was suspicious: what a commit with `confirm` is asked to run again for.
  [[nodiscard]] bool any_run_suspicious() const {
    const double limit = has_noise() ? band(q_.history, 1, suspicious_tail) : 0;
    return std::any_of(distances_.begin(), distances_.end(),
                       [&](double d) { return exceeds(d) && d > limit + slack_; });
  }

  [[nodiscard]] Standing standing() const {
    const bool beyond = exceeds(mean_) && is_beyond(1, tail());
    if (beyond && runs() >= q_.rule.confirm && runs_that_agree() >= q_.rule.confirm) return Standing::worse;
    const bool suspicious = beyond || (exceeds(mean_) && is_beyond(1, suspicious_tail));
    if (suspicious) return runs() < q_.rule.confirm ? Standing::unconfirmed : Standing::noisy;
    if (q_.rule.confirm > 1 && any_run_suspicious()) return Standing::noisy;
    const bool improved = -mean_ > tolerance_ + slack_ && is_beyond(-1, tail());
    return improved ? Standing::better : Standing::within;
  }

  /// The true worsening that breaks the rule with probability detection_power, this band given.
  [[nodiscard]] double detectable(double noise) const {
    if (q_.history.degrees < 1) return infinite;
    const double threshold = std::max(tolerance_, noise);
    const double one = standard_error(q_.history, 1), all = standard_error(q_.history, runs_wanted());
    if (q_.rule.confirm == 1 || threshold == infinite || one == 0)
      return threshold + all * student_upper(1 - detection_power, q_.history.degrees);
    // Every run must agree, the first be suspicious, the mean be beyond the band. All of these rise with every run's
    // value, so their joint probability is at least the product.
    const double agreeing = agreeing_distance();
    const double first = has_noise() ? std::max(tolerance_, band(q_.history, 1, suspicious_tail)) : tolerance_;
    const auto power = [&](double shift) {
      return normal_tail((first - shift) / one) * normal_tail((threshold - shift) / all) *
             std::pow(normal_tail((agreeing - shift) / one), static_cast<double>(q_.rule.confirm - 1));
    };
    double low = 0, high = std::max(first, threshold) + 10 * one;
    for (int i = 0; i < 60; ++i) (power((low + high) / 2) < detection_power ? low : high) = (low + high) / 2;
    return high;
  }

  /// Nothing where the metric cannot be so far from the level.
  [[nodiscard]] std::optional<double> possible_at(double distance) const {
    const double value = value_at(distance);
    const bool is_number = std::isfinite(distance) && std::isfinite(value);
    if (!is_number || (value < 0 && !is_signed()) || (is_share(q_.info) && value > 1)) return std::nullopt;
    return value;
  }
  /// Whether the metric is one that is below 0 at times: its history tells.
  [[nodiscard]] bool is_signed() const {
    return q_.history.scale == Scale::linear && !q_.history.current.empty() && q_.history.current.front() < 0;
  }

  const ComparisonQuestion& q_;
  double sign_;
  double tolerance_;
  std::vector<double> distances_;
  double mean_ = 0, slack_ = 0;
};

}  // namespace

bool is_above(double a, double b) { return a - b > rounding * std::max(std::abs(a), std::abs(b)); }

Comparison compare(const ComparisonQuestion& question) {
  TRACEWEIR_ASSERT(!question.observed.empty() && question.history.runs >= 1 && question.side != Better::none);
  return Comparing(question).result();
}

}  // namespace traceweir::gate
