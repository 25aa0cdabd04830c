#include "analyzer/metrics/statistics.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace traceweir::metrics;

namespace {
constexpr std::int64_t low = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t high = std::numeric_limits<std::int64_t>::max();
}  // namespace

// Why: the contract fixes the interpolation; other rules differ by a call's length on few calls.
TEST_CASE("quantile: linear at rank p(n-1)") {
  struct Row {
    std::vector<std::int64_t> sorted;
    double p;
    double want;
  };
  const Row rows[] = {
      {{7}, 0.0, 7},        {{7}, 0.95, 7},           {{1, 2}, 0.5, 1.5},           {{1, 2, 3}, 0.5, 2},
      {{1, 2, 3, 4}, 1, 4}, {{10, 20, 30}, 0.25, 15}, {{0, 10, 20, 100}, 0.95, 88}, {{low, high}, 0.5, 0},
  };
  for (const Row& row : rows) {
    CAPTURE(row.p);
    CHECK(quantile(row.sorted, row.p) == doctest::Approx(row.want));
  }
}

// Why: traces may hold both ends of 64 bits; a sum that wraps would be a plausible wrong number.
TEST_CASE("sums never wrap") {
  Sum sum;
  sum.add(high);
  sum.add(high);
  CHECK(sum.clamped() == high);
  CHECK(sum.as_double() == doctest::Approx(std::ldexp(1.0, 64)));
  sum.add(low);
  sum.add(low);
  CHECK(sum.clamped() == -2);
}

TEST_CASE("coefficient of variation: sample deviation over mean") {
  CHECK(coefficient_of_variation(std::vector<std::int64_t>{10, 20}) == doctest::Approx(std::sqrt(50.0) / 15));
  CHECK(coefficient_of_variation(std::vector<std::int64_t>{5, 5, 5}) == 0);
  CHECK(coefficient_of_variation(std::vector<std::int64_t>{0, 0}) == 0);
}
