#include "gate/change_points.hpp"
#include "tests/unit/gate/stretches.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

using namespace traceweir::gate;
using cases::Stretch;
using cases::stretches;

namespace {

/// The rule of the method's authors: no least size, no least magnitude.
ChangePointOptions plain() { return {0.001, 0, 50, 1}; }

std::vector<std::size_t> indices(const std::vector<ChangePoint>& points) {
  std::vector<std::size_t> out;
  for (const ChangePoint& point : points) out.push_back(point.index);
  return out;
}
using Indices = std::vector<std::size_t>;

std::vector<double> series(const std::vector<Stretch>& all, double unrest = 0.01) { return stretches(all, unrest); }

}  // namespace

// Why: 5 and 3 values around 1 and 98, then 6 around 149: the published example of the method.
TEST_CASE("change points: the published example") {
  const std::vector<double> values{0.3,  2.4,   1.5,   -0.9,  -0.5,  99.7,  98.3,
                                   99.1, 149.0, 149.7, 149.5, 149.1, 148.8, 150.0};
  const auto points = change_points(values, plain());
  CHECK(indices(points) == Indices{5, 8});
  CHECK(points[0].before == doctest::Approx(0.56));
  CHECK(points[0].after == doctest::Approx(99.0333333));
  CHECK(points[1].after == doctest::Approx(149.35));
}

// Why: by hand. Four zeros and four twos: means 0 and 2, no spread, so p is 0; 2/2 − 0 is the magnitude of the way back
// (0/2 − 1), as a level of 0 has no ratio.
TEST_CASE("change points: levels without any noise") {
  const auto points = change_points(std::vector<double>{0, 0, 0, 0, 2, 2, 2, 2});
  REQUIRE(points.size() == 1);
  CHECK(points[0].index == 4);
  CHECK(points[0].before == 0);
  CHECK(points[0].after == 2);
  CHECK(points[0].p == 0);
  CHECK(points[0].magnitude == 1);
}

// Why: the test by hand. 1, 3, 1, 3 against 5, 7, 5, 7: variances of divisor N are 1, pooled (3 + 3)/6 = 1, error
// √(1/4 + 1/4), t = 4/0.7071 = 5.657, ν = 6: two-sided p = 0.00131. Above 0.001, below 0.002.
TEST_CASE("change points: significance by hand") {
  const std::vector<double> values{1, 3, 1, 3, 5, 7, 5, 7};
  CHECK(change_points(values).empty());
  const auto points = change_points(values, {0.002, 0.02, 50, 4});
  REQUIRE(indices(points) == Indices{4});
  CHECK(points[0].p == doctest::Approx(0.00131).epsilon(0.01));
  CHECK(points[0].magnitude == doctest::Approx(2.0));  // 6/2 − 1
}

TEST_CASE("change points: what is none") {
  struct Row {
    const char* name;
    std::vector<double> values;
  };
  const Row rows[] = {
      {"nothing", {}},
      {"one value", {7}},
      {"two values", {7, 9}},
      {"a constant", std::vector<double>(200, 0.1)},
      {"zeros", std::vector<double>(200, 0.0)},
      {"too few on the right", series({{100, 30}, {150, 3}})},
      {"too few on the left", series({{100, 3}, {150, 30}})},
      {"one outlier", series({{100, 25}, {300, 1}, {100, 25}})},
      {"an outlier of two values", series({{100, 25}, {300, 2}, {100, 25}})},
      {"too small a change", series({{100, 30}, {101.5, 30}}, 0.0001)},
      {"regular unrest alone", series({{100, 400}}, 0.05)},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(change_points(row.values).empty());
  }
}

TEST_CASE("change points: what is one") {
  struct Row {
    const char* name;
    std::vector<double> values;
    Indices want;
  };
  const Row rows[] = {
      {"up", series({{100, 20}, {110, 20}}), {20}},
      {"down", series({{110, 20}, {100, 20}}), {20}},
      {"four values are enough", series({{100, 20}, {110, 4}}), {20}},
      {"up and back", series({{100, 20}, {110, 20}, {100, 20}}), {20, 40}},
      {"stairs", series({{100, 20}, {105, 20}, {110, 20}, {115, 20}}), {20, 40, 60}},
      {"below zero", series({{-100, 20}, {-110, 20}}), {20}},
      {"through zero", series({{-5, 20}, {5, 20}}), {20}},
      {"from zero", series({{0, 20}, {5, 20}}), {20}},
      {"to zero", series({{5, 20}, {0, 20}}), {20}},
      {"huge", series({{1e149, 20}, {2e149, 20}}), {20}},
      {"tiny", series({{1e-300, 20}, {2e-300, 20}}), {20}},
      {"long after the first window", series({{100, 310}, {110, 90}}), {310}},
      {"on the border of a window", series({{100, 50}, {110, 50}}), {50}},
      {"an outlier beside a change", series({{100, 12}, {180, 1}, {100, 12}, {200, 25}}), {25}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(indices(change_points(row.values)) == row.want);
  }
}

// Why: a spike may not hide behind the size of a value far away: distances are summed, never subtracted.
TEST_CASE("change points: one huge value leaves the small ones visible") {
  std::vector<double> values = series({{100, 25}, {200, 25}});
  values.insert(values.begin(), 1e140);
  const auto found = indices(change_points(values, {0.001, 0.02, 50, 1}));
  CHECK(std::find(found.begin(), found.end(), 26) != found.end());
}

// Why: with a window that leaves little room between its ends, places between two windows must not be missed.
TEST_CASE("change points: found at every place, whatever the window") {
  for (const std::size_t window : {8U, 11U, 20U, 50U, 80U})
    for (const std::size_t side : {4U, 10U, 25U}) {
      if (window < 2 * side) continue;
      for (int place = 30; place < 60; ++place) {
        CAPTURE(window);
        CAPTURE(side);
        CAPTURE(place);
        const auto points =
            change_points(series({{100, place}, {200, 90 - place}}, 0.001), {0.001, 0.02, window, side});
        CHECK(indices(points) == Indices{static_cast<std::size_t>(place)});
      }
    }
}

TEST_CASE("change points: options") {
  const auto values = series({{100, 20}, {110, 20}});
  CHECK(change_points(values, {0.001, 0.09, 50, 4}).size() == 1);
  CHECK(change_points(values, {0.001, 0.11, 50, 4}).empty());
  CHECK(change_points(values, {1e-40, 0.02, 50, 4}).empty());
  CHECK(change_points(values, {0.001, 0.02, 50, 20}).size() == 1);
  CHECK(change_points(values, {0.001, 0.02, 50, 21}).empty());
}

// Why: it runs after every run of a baseline branch.
TEST_CASE("change points: 10 000 values in less than 200 ms") {
  for (const double step : {0.0, 0.1}) {
    std::vector<double> values;
    for (int i = 0; i < 10'000; ++i)
      values.push_back(100 * (1 + step * (i / 20 % 2)) + std::sin(static_cast<double>(i) * i));
    const auto begin = std::chrono::steady_clock::now();
    const auto points = change_points(values);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    MESSAGE(points.size(), " changes in ", took.count(), " ms");
#ifndef __SANITIZE_ADDRESS__  // a build with sanitizers takes several times as long
    CHECK(took.count() < 200);
#endif
    if (step > 0) CHECK(points.size() > 400);
  }
}
