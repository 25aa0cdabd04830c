// For: all overlap arithmetic. A metric that needs unions, intersections or lengths asks here; it never sorts spans
// itself. Not for: knowing what the spans are.
#pragma once

#include <span>
#include <vector>

#include "analyzer/core/time.hpp"

namespace traceweir::timeline {

/// A set of points on the trace clock, kept as sorted, disjoint, half-open intervals.
///
/// Units:  integer nanoseconds on the trace's own clock (never wall time).
/// Shape:  parts are sorted by `begin`, pairwise disjoint and not touching, none empty.
/// Cost:   union_of O(n log n) (O(n) for sorted input), everything else O(n).
/// Thread: immutable after construction; share freely.
class IntervalSet {
 public:
  IntervalSet() = default;

  /// Shape: `spans` may overlap, touch, repeat, be unsorted. Empty spans vanish.
  static IntervalSet union_of(std::vector<Interval> spans);

  /// Points of *this that lie in `window`. An empty window gives an empty set.
  [[nodiscard]] IntervalSet clipped_to(Interval window) const;
  [[nodiscard]] IntervalSet united_with(const IntervalSet& other) const;
  [[nodiscard]] IntervalSet intersected_with(const IntervalSet& other) const;
  /// Points of *this that are not in `other`.
  [[nodiscard]] IntervalSet without(const IntervalSet& other) const;
  /// Points of `window` that are not in *this.
  [[nodiscard]] IntervalSet gaps_in(Interval window) const;

  /// Units: ns. Zero for the empty set.
  [[nodiscard]] Nanos total() const;
  [[nodiscard]] std::span<const Interval> parts() const { return parts_; }
  [[nodiscard]] bool empty() const { return parts_.empty(); }
  friend bool operator==(const IntervalSet&, const IntervalSet&) = default;

 private:
  std::vector<Interval> parts_;
};

}  // namespace traceweir::timeline
