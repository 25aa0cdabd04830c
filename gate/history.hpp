// For: what a metric's baseline values say together: their scale, level and noise, and the band around the level that
// noise alone explains. Source: spec of the gate, section 2; docs/gate.md, "statistics".
// Not for: tolerances and outcomes (judge_rule.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analyzer/core/metric.hpp"
#include "gate/judge.hpp"
#include "gate/policy.hpp"

namespace traceweir::gate {

/// How values are compared: as they are, or by their logarithm. Noise may be normal or log-normal, and no history is
/// long enough to tell. Of both scales the one is taken whose band is wider on the worse side, so that it holds for
/// either: upwards that is the logarithm, downwards the value as it is (docs/decisions/020).
enum class Scale { linear, logarithmic };
double to_scale(Scale scale, double value);
double from_scale(Scale scale, double value);

/// What is asked of a baseline.
struct HistoryQuestion {
  std::span<const BaselinePoint> points;  ///< newest first
  std::span<const double> observed;       ///< of the commit: a value of 0 among them forbids the logarithm
  Unit unit = Unit::count;
  Better side = Better::lower;  ///< the better one
  Noise noise = Noise::automatic;
  std::int64_t runs = 30;  ///< at most so many of the current segment make the level
};

/// A baseline, understood. Units: those of `scale`, but for `level_value` and `median`.
struct History {
  Scale scale = Scale::linear;
  double level = 0;
  double spread = 0;            ///< standard deviation of one run, not below the resolution
  double factor = 1;            ///< widens the band: c(n) of `mad`
  double degrees = 0;           ///< of freedom of `spread`; below 1 there is no estimate
  std::vector<double> current;  ///< the values that made the level, sorted
  std::int64_t runs = 0;        ///< of the current segment, at most as many as were asked for
  std::int64_t residuals = 0, segments = 0;
  double level_value = 0;   ///< in the metric's unit
  double median = 0;        ///< of `current`, in the metric's unit
  std::string first, last;  ///< runs: oldest and newest that made the level
  std::string commit;       ///< of `last`
};

/// Shape:  without values in the current segment there is no level: `runs` is 0 and nothing else is meant.
/// Cost:   O(n log n).
History history_of(const HistoryQuestion& question);

/// The mean of the values as the scale takes it, back in their unit: geometric on the logarithmic scale.
/// Shape: not empty.
double mean_on(Scale scale, std::span<const double> values);

/// How far the mean of `runs` new runs is from the level by noise alone, at most, but for a probability of `tail`.
/// Units: the history's scale.   Shape: degrees >= 1, runs >= 1.
double band(const History& history, std::int64_t runs, double tail);

/// Standard deviation of (mean of `runs` new runs − level). Units: the history's scale.
double standard_error(const History& history, std::int64_t runs);

/// Values below this ratio of the level, or for ratios this difference, are not told apart by any trace.
inline constexpr double resolution_of_level = 1e-4;
inline constexpr double resolution_of_ratio = 0.001;
/// Ratios down to this are compared as they are: near 0 their logarithms measure little but the resolution.
inline constexpr double logarithmic_ratio_min = 0.01;

/// From so many residuals on outliers are rejected, where they are fewer than this share.
inline constexpr std::size_t rejection_residuals_min = 20;
inline constexpr double rejection_share_max = 0.05;
inline constexpr double rejection_deviations = 5;
/// The noise is pooled over at most so many runs.
inline constexpr std::size_t noise_runs_max = 100;

}  // namespace traceweir::gate
