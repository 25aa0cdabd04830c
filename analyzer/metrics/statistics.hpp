// For: the few statistics that metrics are made of, exact where they can be. Units: whatever the caller's are.
// Not for: time sets (timeline/interval_set) or judging (gate/statistics).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace traceweir::metrics {

__extension__ typedef __int128 Wide;

/// A sum of 64-bit integers that cannot overflow: a hostile trace may hold many spans of a century.
class Sum {
 public:
  void add(std::int64_t value) { total_ += value; }
  void add(const Sum& other) { total_ += other.total_; }

  /// The sum; the nearest 64-bit integer where it does not fit.
  [[nodiscard]] std::int64_t clamped() const;
  [[nodiscard]] double as_double() const { return static_cast<double>(total_); }
  [[nodiscard]] bool zero() const { return total_ == 0; }

 private:
  Wide total_ = 0;
};

/// Linear interpolation at rank p·(n − 1).   Shape: `sorted` ascending, not empty; 0 <= p <= 1.
/// Source: spec of metrics, section 5 (type 7 of Hyndman and Fan).
double quantile(std::span<const std::int64_t> sorted, double p);
double quantile(std::span<const double> sorted, double p);

/// Shape: not empty.
double mean(std::span<const std::int64_t> values);

/// Sample deviation (n − 1) over mean.   Shape: at least two values; 0 where the mean is 0.
double coefficient_of_variation(std::span<const std::int64_t> values);

}  // namespace traceweir::metrics
