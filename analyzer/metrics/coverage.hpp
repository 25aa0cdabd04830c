// For: how much of a set of points lies in each of many intervals. Not for: making sets (timeline/interval_set).
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "analyzer/timeline/interval_set.hpp"

namespace traceweir::metrics {

/// How much of a set lies in an interval, in O(log parts). Outlived by the set.
class Coverage {
 public:
  explicit Coverage(const timeline::IntervalSet& set) : parts_(set.parts()) {
    before_.reserve(parts_.size());
    Nanos total{};
    for (const Interval& part : parts_) {
      before_.push_back(total);
      total += part.length();
    }
  }

  [[nodiscard]] Nanos within(Interval interval) const { return until(interval.end) - until(interval.begin); }

 private:
  [[nodiscard]] Nanos until(Nanos t) const {
    const auto after = std::upper_bound(parts_.begin(), parts_.end(), t,
                                        [](Nanos point, const Interval& part) { return point < part.begin; });
    if (after == parts_.begin()) return {};
    const auto index = static_cast<std::size_t>(after - parts_.begin()) - 1;
    return before_[index] + (std::min(t, parts_[index].end) - parts_[index].begin);
  }

  std::span<const Interval> parts_;
  std::vector<Nanos> before_;
};

}  // namespace traceweir::metrics
