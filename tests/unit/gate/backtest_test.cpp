#include "gate/backtest.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "gate/segments.hpp"
#include "tests/unit/gate/cases.hpp"
#include "tests/unit/gate/stretches.hpp"

using namespace traceweir;
using namespace traceweir::gate;
using cases::Stretch;
using cases::stretches;

namespace {

/// Levels one after the other, with a little unrest.
std::vector<double> levels(const std::vector<Stretch>& all) { return stretches(all, 0.003); }

Backtest tested(const std::vector<double>& values, Better side = Better::lower,
                std::vector<std::size_t> accepted = {}) {
  Rule rule;
  rule.metric = "value";
  rule.worse_by = Tolerance{Tolerance::Kind::ratio, 0.05, "5%"};
  const MetricInfo info{"value", Unit::count, side, ""};
  return backtest({values, rule, info, {}, {}, std::move(accepted)});
}

/// Indices that have this reason, as `first-last` of each stretch.
std::string where(const Backtest& test, Reason reason) {
  std::string text;
  for (std::size_t i = 0; i < test.points.size(); ++i) {
    if (test.points[i].result.reason != reason) continue;
    std::size_t last = i;
    while (last + 1 < test.points.size() && test.points[last + 1].result.reason == reason) ++last;
    text += (text.empty() ? "" : " ") + std::to_string(i) + "-" + std::to_string(last);
    i = last;
  }
  return text;
}

}  // namespace

TEST_CASE("backtest: learning first, then every value against those before it") {
  const Backtest test = tested(levels({{100, 20}}));
  CHECK(where(test, Reason::no_baseline) == "0-0");
  CHECK(where(test, Reason::short_baseline) == "1-4");
  CHECK(where(test, Reason::within) == "5-19");
  CHECK(test.judged == 15);
  CHECK(test.failed == 0);
  CHECK(test.points[7].result.baseline->runs == 7);
}

TEST_CASE("backtest: a lasting regression fails until it is accepted") {
  const std::vector<double> values = levels({{100, 20}, {120, 20}});
  const Backtest test = tested(values);
  CHECK(where(test, Reason::worse) == "20-39");
  REQUIRE(test.alarms.size() == 1);
  CHECK_FALSE(test.alarms[0].recovered);
  REQUIRE(test.change_points.size() == 1);
  CHECK(test.change_points[0].index == 20);
  // What fails is not in the baseline.
  CHECK(test.points[39].result.baseline->level == doctest::Approx(100).epsilon(0.01));

  const Backtest accepted = tested(values, Better::lower, {20});
  CHECK(accepted.failed == 0);
  CHECK(where(accepted, Reason::accepted) == "20-24");
  CHECK(where(accepted, Reason::within) == "5-19 25-39");
  CHECK(accepted.points[39].result.baseline->level == doctest::Approx(120).epsilon(0.01));
}

TEST_CASE("backtest: an accepted level is guarded from its first run on") {
  const Backtest test = tested(levels({{100, 20}, {120, 2}, {150, 1}, {120, 10}}), Better::lower, {20});
  CHECK(where(test, Reason::worse) == "22-22");
}

// Why: the slow run that was there before becomes a regression once the history has got faster.
TEST_CASE("backtest: a history that got 10 % better and falls back is caught") {
  for (const Better side : {Better::lower, Better::higher}) {
    const double better = side == Better::lower ? 90 : 110;
    const Backtest test = tested(levels({{100, 20}, {better, 12}, {100, 5}}), side);
    CHECK(where(test, Reason::worse) == "32-36");
    CHECK(test.points[31].result.baseline->level == doctest::Approx(better).epsilon(0.01));
  }
}

TEST_CASE("backtest: an outlier is an alarm that recovers, and is in no baseline") {
  const Backtest test = tested(levels({{100, 20}, {130, 1}, {100, 20}}));
  CHECK(where(test, Reason::worse) == "20-20");
  REQUIRE(test.alarms.size() == 1);
  CHECK(test.alarms[0].recovered);
  CHECK(test.points[25].result.baseline->runs == 24);
}

TEST_CASE("backtest: any series at all") {
  struct Row {
    const char* name;
    std::vector<double> values;
    std::int64_t failed;
  };
  const Row rows[] = {
      {"nothing", {}, 0},
      {"one value", {5}, 0},
      {"a constant", std::vector<double>(50, 7.0), 0},
      {"a constant and a jump", {7, 7, 7, 7, 7, 7, 7, 8}, 1},
      {"zeros", std::vector<double>(50, 0.0), 0},
      {"zeros and a jump", {0, 0, 0, 0, 0, 0, 1}, 1},
      {"below zero, and worse", {-10, -10, -10, -10, -10, -10, -9}, 1},
      {"below zero, and better", {-10, -10, -10, -10, -10, -10, -11}, 0},
      {"huge", {1e149, 1e149, 1e149, 1e149, 1e149, 1e149, 2e149}, 1},
      {"tiny", {1e-300, 1e-300, 1e-300, 1e-300, 1e-300, 1e-300, 2e-300}, 1},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const Backtest test = tested(row.values);
    CHECK(test.points.size() == row.values.size());
    CHECK(test.failed == row.failed);
  }
}

TEST_CASE("segments: begin at accepted values and at changes for the better that are long enough") {
  const ChangePoint faster{10, 100, 90, 0, 0.1}, slower{20, 90, 99, 0, 0.1};
  const std::vector<ChangePoint> changes{faster, slower};
  const std::vector<char> all(30, 1);
  using Starts = std::vector<std::size_t>;
  CHECK(segment_starts({changes, all, {}, Better::lower, 5}) == Starts{10});
  CHECK(segment_starts({changes, all, {}, Better::higher, 5}) == Starts{20});
  CHECK(segment_starts({changes, all, {}, Better::none, 5}).empty());
  CHECK(segment_starts({changes, all, {}, Better::lower, 21}).empty());
  const Starts accepted{20};
  CHECK(segment_starts({changes, all, accepted, Better::lower, 5}) == Starts{10, 20});
  std::vector<char> few(30, 0);
  few[12] = 1;
  CHECK(segment_starts({changes, few, {}, Better::lower, 2}).empty());
}

TEST_CASE("segments: of a baseline, newest first") {
  std::vector<BaselinePoint> points;
  for (const double value : levels({{100, 20}, {90, 6}})) points.insert(points.begin(), {"r", "c", value, 0});
  number_segments(points, Better::lower, 5);
  CHECK(points.front().segment == 0);
  CHECK(points[5].segment == 0);
  CHECK(points[6].segment == 1);
  CHECK(points.back().segment == 1);
  number_segments(points, Better::lower, 7);
  CHECK(points.back().segment == 0);
}

TEST_CASE("segments: for noise alone, every change and every segment is one") {
  std::vector<BaselinePoint> points;
  for (const double value : levels({{100, 20}, {110, 6}})) points.insert(points.begin(), {"r", "c", value, 0});
  number_segments(points, Better::lower, 5);
  CHECK(points.back().segment == 0);
  for (std::size_t i = 2; i < points.size(); ++i) points[i].segment = 1;
  number_levels(points);
  CHECK(points[1].segment == 0);
  CHECK(points[2].segment == 1);
  CHECK(points[5].segment == 1);
  CHECK(points[6].segment == 2);
}

// Why: a series has no better side; whoever asks all the same gets no verdict, and the program does not end.
TEST_CASE("backtest: a rule that does not fit its metric judges nothing") {
  const std::vector<double> values = levels({{100, 8}, {150, 4}});
  for (const char* keys : {"worse_by = \"5%\"", "at_least = \"1 ms\"", "worse_by = \"3pp\"\ndirection = \"lower\""}) {
    CAPTURE(keys);
    const Policy policy = cases::policy_of(std::string("[rules.\"custom.epoch\"]\n") + keys + "\n");
    const Backtest test = backtest({values, policy.rules.front(), *metric_info("custom.epoch"), {}, {}, {0, 5}});
    CHECK(test.judged == 0);
    CHECK(where(test, Reason::not_comparable) == "0-11");
  }
}

TEST_CASE("backtest: a metric that is below 0 has its thresholds there too") {
  const Backtest test = tested(levels({{-5, 8}, {-4, 1}}));
  const RuleResult& last = test.points.back().result;
  CHECK(last.reason == Reason::worse);
  REQUIRE(last.fails_at);
  CHECK(*last.fails_at == doctest::Approx(-4.75).epsilon(0.01));
  REQUIRE(last.detectable);
  CHECK(*last.detectable == doctest::Approx(0.26).epsilon(0.1));
}

// Why: by noise single values of a level that stays are within; each part of the alarm that they divide is as true.
TEST_CASE("backtest: a regression that single values interrupt is no false alarm") {
  std::vector<double> values = levels({{100, 30}, {110, 30}});
  for (const std::size_t index : {33UL, 37UL, 44UL, 52UL}) values[index] = 104;
  const Backtest test = tested(values);
  CHECK(test.alarms.size() == 5);
  for (const Alarm& alarm : test.alarms) CHECK_FALSE(alarm.recovered);

  values = levels({{100, 20}, {120, 10}, {100, 40}});
  values[55] = 130;  // long after the level came back
  const Backtest back = tested(values);
  REQUIRE(back.alarms.size() == 2);
  CHECK_FALSE(back.alarms.front().recovered);
  CHECK(back.alarms.back().recovered);
}
