#include "gate/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analyzer/core/assert.hpp"

namespace traceweir::gate {

double mean(std::span<const double> values) {
  TRACEWEIR_ASSERT(!values.empty());
  // Distances from the first value: sums of near-equal numbers lose no digits, and a constant history is constant.
  const double origin = values.front();
  double sum = 0;
  for (const double value : values) sum += value - origin;
  return origin + sum / static_cast<double>(values.size());
}

double variance_about(std::span<const double> values, double centre) {
  TRACEWEIR_ASSERT(values.size() >= 2);
  double sum = 0;
  for (const double value : values) sum += (value - centre) * (value - centre);
  return sum / static_cast<double>(values.size() - 1);
}

double quantile(std::vector<double> values, double p) {
  TRACEWEIR_ASSERT(!values.empty());
  TRACEWEIR_ASSERT(p >= 0 && p <= 1);
  std::sort(values.begin(), values.end());
  const double rank = p * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  if (below + 1 >= values.size()) return values.back();
  return values[below] + (rank - static_cast<double>(below)) * (values[below + 1] - values[below]);
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

double median_deviation(const std::vector<double>& values) {
  const double centre = median(values);
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::abs(value - centre));
  return median(std::move(distances));
}

namespace {

/// Twice the middle rank of every value of `first` then `second`, so that ties stay integers.
std::vector<std::size_t> doubled_ranks(std::span<const double> first, std::span<const double> second) {
  std::vector<double> all(first.begin(), first.end());
  all.insert(all.end(), second.begin(), second.end());
  std::vector<double> sorted = all;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::size_t> ranks;
  ranks.reserve(all.size());
  for (const double value : all) {
    const auto [from, to] = std::equal_range(sorted.begin(), sorted.end(), value);
    ranks.push_back(static_cast<std::size_t>((from - sorted.begin()) + (to - sorted.begin()) + 1));
  }
  return ranks;
}

/// How many ways there are to choose `count` of the ranks with each sum: ways[sum]. Doubles: they exceed 64 bits.
std::vector<double> ways_by_sum(const std::vector<std::size_t>& ranks, std::size_t count) {
  const std::size_t sums = std::accumulate(ranks.begin(), ranks.end(), std::size_t{0}) + 1;
  std::vector<std::vector<double>> ways(count + 1, std::vector<double>(sums, 0.0));
  ways[0][0] = 1;
  std::size_t reached = 0;
  for (const std::size_t rank : ranks) {
    reached += rank;
    for (std::size_t k = count; k >= 1; --k)
      for (std::size_t sum = reached; sum >= rank; --sum) ways[k][sum] += ways[k - 1][sum - rank];
  }
  return ways[count];
}

}  // namespace

double mann_whitney_above(std::span<const double> above, std::span<const double> below) {
  TRACEWEIR_ASSERT(!above.empty() && !below.empty());
  TRACEWEIR_ASSERT(above.size() * below.size() <= mann_whitney_pairs_max);
  const std::vector<std::size_t> ranks = doubled_ranks(above, below);
  const auto split = ranks.begin() + static_cast<std::ptrdiff_t>(above.size());
  // The smaller side is counted: a high sum of one is a low sum of the other.
  const bool count_above = above.size() <= below.size();
  const std::size_t observed = count_above ? std::accumulate(ranks.begin(), split, std::size_t{0})
                                           : std::accumulate(split, ranks.end(), std::size_t{0});
  const std::vector<double> ways = ways_by_sum(ranks, std::min(above.size(), below.size()));
  double total = 0, extreme = 0;
  for (std::size_t sum = 0; sum < ways.size(); ++sum) {
    total += ways[sum];
    if (count_above ? sum >= observed : sum <= observed) extreme += ways[sum];
  }
  return extreme / total;
}

double mann_whitney_least(std::size_t m, std::size_t n) {
  double p = 1;
  for (std::size_t i = 1; i <= m; ++i) p *= static_cast<double>(i) / static_cast<double>(n + i);
  return p;
}

namespace {

struct FactorRow {
  std::size_t n;
  double factor;
};
constexpr FactorRow factor_rows[] = {{4, 2.901},  {5, 3.781},  {6, 2.133},  {7, 2.330},  {8, 1.781},
                                     {9, 1.851},  {10, 1.587}, {11, 1.624}, {12, 1.465}, {13, 1.488},
                                     {14, 1.386}, {15, 1.400}, {16, 1.329}, {20, 1.256}, {25, 1.209},
                                     {30, 1.165}, {40, 1.119}, {50, 1.094}, {70, 1.066}, {100, 1.044}};

}  // namespace

double mad_factor(std::size_t n) {
  TRACEWEIR_ASSERT(n >= mad_runs_min);
  const FactorRow* above = std::begin(factor_rows);
  while (above != std::end(factor_rows) && above->n < n) ++above;
  if (above == std::end(factor_rows)) return std::prev(above)->factor;
  if (above->n == n) return above->factor;
  // Between two rows the factor is nearly linear in 1/n.
  const FactorRow& low = *std::prev(above);
  const double at = (1.0 / static_cast<double>(low.n) - 1.0 / static_cast<double>(n)) /
                    (1.0 / static_cast<double>(low.n) - 1.0 / static_cast<double>(above->n));
  return low.factor + at * (above->factor - low.factor);
}

}  // namespace traceweir::gate
