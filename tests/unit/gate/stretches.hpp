// For: series of a few levels, as backtests and change points are tried on. Not for: baselines (cases.hpp).
#pragma once

#include <cstddef>
#include <iterator>
#include <vector>

namespace traceweir::gate::cases {

/// A level, and how many values it has.
struct Stretch {
  double value;
  int count;
};

/// One after the other, each value ± a small regular unrest that is no change itself.
inline std::vector<double> stretches(const std::vector<Stretch>& all, double unrest) {
  constexpr double pattern[] = {0, 1, -1, 0.5, -0.5, 1, 0, -1};
  std::vector<double> values;
  for (const auto& [value, count] : all)
    for (int i = 0; i < count; ++i)
      values.push_back(value * (1 + unrest * pattern[values.size() % std::size(pattern)]));
  return values;
}

}  // namespace traceweir::gate::cases
