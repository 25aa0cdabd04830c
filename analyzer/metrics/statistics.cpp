#include "analyzer/metrics/statistics.hpp"

#include <cmath>
#include <cstddef>
#include <limits>

#include "analyzer/core/assert.hpp"

namespace traceweir::metrics {
namespace {

std::int64_t clamp(Wide value) {
  constexpr Wide low = std::numeric_limits<std::int64_t>::min();
  constexpr Wide high = std::numeric_limits<std::int64_t>::max();
  if (value < low) return std::numeric_limits<std::int64_t>::min();
  if (value > high) return std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(value);
}

template <typename Number>
double interpolated(std::span<const Number> sorted, double p) {
  TRACEWEIR_ASSERT(!sorted.empty() && p >= 0 && p <= 1);
  const double rank = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const auto low = static_cast<double>(sorted[below]);
  if (below + 1 >= sorted.size()) return low;
  const auto high = static_cast<double>(sorted[below + 1]);
  return low + (high - low) * (rank - static_cast<double>(below));
}

}  // namespace

std::int64_t Sum::clamped() const { return clamp(total_); }

double quantile(std::span<const std::int64_t> sorted, double p) { return interpolated(sorted, p); }
double quantile(std::span<const double> sorted, double p) { return interpolated(sorted, p); }

double mean(std::span<const std::int64_t> values) {
  TRACEWEIR_ASSERT(!values.empty());
  Sum sum;
  for (const std::int64_t value : values) sum.add(value);
  return sum.as_double() / static_cast<double>(values.size());
}

double coefficient_of_variation(std::span<const std::int64_t> values) {
  TRACEWEIR_ASSERT(values.size() >= 2);
  const double centre = mean(values);
  if (centre == 0) return 0;
  double squares = 0;
  for (const std::int64_t value : values) squares += std::pow(static_cast<double>(value) - centre, 2);
  return std::sqrt(squares / static_cast<double>(values.size() - 1)) / centre;
}

}  // namespace traceweir::metrics
