// For: what a rule would have said about every value of a series, each judged against those before it, by the judge
// itself. Not for: reading series (cli), stored histories (server).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gate/change_points.hpp"
#include "gate/policy.hpp"
#include "gate/verdict.hpp"

namespace traceweir::gate {

struct BacktestQuestion {
  std::span<const double> values;  ///< oldest first; one run of the baseline branch each
  Rule rule;
  MetricInfo info;
  BaselineOptions baseline;
  ChangePointOptions changes;
  std::vector<std::size_t> accepted;  ///< indices of values from which on a new level was accepted
};

struct BacktestPoint {
  std::size_t index = 0;
  double value = 0;
  RuleResult result;
};

/// Values one after the other that fail.
struct Alarm {
  std::size_t begin = 0, end = 0;  ///< [begin, end)
  /// Whether a value after it does not fail, and no change of level is in it: noise, most likely.
  bool recovered = false;
};

struct Backtest {
  std::vector<BacktestPoint> points;
  std::vector<ChangePoint> change_points;  ///< of the whole series
  std::vector<Alarm> alarms;
  std::int64_t judged = 0, failed = 0, warned = 0;
};

/// Judges every value against those before it. A value that fails is not in the baseline, unless its level was
/// accepted. A segment begins where a level was accepted, and at a change to the better once `min_runs` values of it
/// are known. Cost: O(n · (window² + n)) at worst; 10 000 values take seconds.
Backtest backtest(const BacktestQuestion& question);

}  // namespace traceweir::gate
