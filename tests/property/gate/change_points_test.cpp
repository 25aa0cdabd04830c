#include "gate/change_points.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cmath>
#include <vector>

using namespace traceweir::gate;

namespace {

std::vector<double> any_series() {
  std::vector<double> values;
  double level = 100;
  const int spread = *rc::gen::element(0, 1, 5);
  for (int i = 0, n = *rc::gen::inRange(0, 200); i < n; ++i) {
    if (*rc::gen::inRange(0, 30) == 0) level *= *rc::gen::element(0.5, 0.9, 1.1, 2.0, -1.0);
    values.push_back(level + *rc::gen::inRange(-spread, spread + 1));
  }
  return values;
}

ChangePointOptions any_options() {
  ChangePointOptions options;
  options.p_max = *rc::gen::element(0.001, 0.05, 0.3, 1.0);
  options.magnitude_min = *rc::gen::element(0.0, 0.02, 0.2);
  options.values_min = *rc::gen::element<std::size_t>(1, 4, 7);
  options.window = *rc::gen::element<std::size_t>(14, 30, 50);
  return options;
}

bool same(const ChangePoint& a, const ChangePoint& b) {
  return a.index == b.index && a.p == b.p && a.before == b.before && a.after == b.after;
}

}  // namespace

// Why: the gate asks after every run; what it remembers must not show in the answer.
TEST_CASE("change points: a growing series gives the answers of each of its beginnings") {
  CHECK(rc::check([] {
    const std::vector<double> values = any_series();
    const ChangePointOptions options = any_options();
    ChangePointScan scan(options);
    for (std::size_t i = 0; i < values.size(); ++i) {
      scan.append(values[i]);
      if (*rc::gen::inRange(0, 4) != 0) continue;
      const auto want = change_points(std::span(values).first(i + 1), options);
      const auto got = scan.points();
      RC_ASSERT(std::equal(got.begin(), got.end(), want.begin(), want.end(), &same));
    }
  }));
}

TEST_CASE("change points: what is found keeps the options' promises") {
  CHECK(rc::check([] {
    const std::vector<double> values = any_series();
    const ChangePointOptions options = any_options();
    std::size_t before = 0;
    for (const ChangePoint& point : change_points(values, options)) {
      RC_ASSERT(point.p < options.p_max);
      RC_ASSERT(point.magnitude > options.magnitude_min);
      RC_ASSERT(point.index - before >= options.values_min);
      RC_ASSERT(values.size() - point.index >= options.values_min);
      before = point.index;
    }
  }));
}

// Why: a unit is a choice. Powers of two change no digit.
TEST_CASE("change points: scaling all values changes nothing") {
  CHECK(rc::check([] {
    const std::vector<double> values = any_series();
    const ChangePointOptions options = any_options();
    std::vector<double> scaled;
    for (const double value : values) scaled.push_back(value * 1024);
    const auto a = change_points(values, options), b = change_points(scaled, options);
    RC_ASSERT(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      RC_ASSERT(a[i].index == b[i].index);
      RC_ASSERT(a[i].p == b[i].p);
    }
  }));
}
