#include "gate/statistics.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using namespace traceweir::gate;

// Why: every verdict rests on these; the quantiles are those of printed tables.
TEST_CASE("statistics: Student's t and the normal distribution against printed tables") {
  struct Row {
    double tail, degrees, want;
  };
  const Row rows[] = {{0.025, 1, 12.706}, {0.025, 4, 2.776},  {0.025, 10, 2.228}, {0.025, 30, 2.042},
                      {0.005, 4, 4.604},  {0.001, 10, 4.144}, {0.1, 7, 1.415},    {0.025, 1e9, 1.960}};
  for (const Row& row : rows) {
    CAPTURE(row.degrees);
    CHECK(student_upper(row.tail, row.degrees) == doctest::Approx(row.want).epsilon(0.0005));
  }
  CHECK(normal_tail(3) == doctest::Approx(0.001349898).epsilon(1e-6));
  CHECK(normal_tail(10) == doctest::Approx(7.619853e-24).epsilon(1e-6));
  CHECK(normal_quantile(0.8) == doctest::Approx(0.8416212).epsilon(1e-6));
  CHECK(std::isfinite(student_upper(normal_tail(10), 1)));
}

TEST_CASE("statistics: moments, quantiles and the median deviation") {
  const std::vector<double> values{4, 1, 3, 2, 10};
  CHECK(mean(values) == 4);
  CHECK(variance_about(values, 4) == 12.5);
  CHECK(median(values) == 3);
  CHECK(quantile(values, 0.25) == 2);
  CHECK(quantile({1, 2}, 0.25) == 1.25);
  CHECK(quantile({7}, 0.9) == 7);
  CHECK(median_deviation(values) == 1);
  // A constant history is constant, whatever its size.
  CHECK(mean(std::vector<double>(7, 0.1)) == 0.1);
}

// Why: p of the exact test is a ratio of counts; for the most extreme order it is one of C(m + n, m).
TEST_CASE("statistics: exact Mann-Whitney") {
  struct Row {
    const char* name;
    std::vector<double> above, below;
    double want;
  };
  const Row rows[] = {
      {"5 + 5, all above", {6, 7, 8, 9, 10}, {1, 2, 3, 4, 5}, 1.0 / 252},
      {"5 + 8, all above", {9, 10, 11, 12, 13}, {1, 2, 3, 4, 5, 6, 7, 8}, 1.0 / 1287},
      {"8 + 5, all above", {6, 7, 8, 9, 10, 11, 12, 13}, {1, 2, 3, 4, 5}, 1.0 / 1287},
      {"all below", {1, 2, 3}, {4, 5, 6}, 1.0},
      {"one of two", {2}, {1}, 0.5},
      {"second of three", {2}, {1, 3}, 2.0 / 3},
      {"all tied", {1, 1, 1}, {1, 1}, 1.0},
      {"a tie at the top", {2, 2}, {1, 2}, 0.5},  // ranks 3, 3 | 1, 3: the two threes are three of six choices
      {"2 + 2, mixed", {2, 4}, {1, 3}, 2.0 / 6},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(mann_whitney_above(row.above, row.below) == doctest::Approx(row.want).epsilon(1e-12));
  }
  CHECK(mann_whitney_least(5, 5) == doctest::Approx(1.0 / 252));
  CHECK(mann_whitney_least(5, 8) == doctest::Approx(1.0 / 1287));
}

TEST_CASE("statistics: the mad factor falls with n and is interpolated between rows") {
  CHECK(mad_factor(8) > mad_factor(10));
  CHECK(mad_factor(17) < mad_factor(16));
  CHECK(mad_factor(17) > mad_factor(20));
  CHECK(mad_factor(100) > 1);
  CHECK(mad_factor(5000) == mad_factor(100));
}
