// An accepted level, and a pinned one.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <string>
#include <vector>

#include "gate/segments.hpp"
#include "tests/unit/gate/cases.hpp"

using namespace traceweir;
using namespace traceweir::gate;
using namespace traceweir::gate::cases;

namespace {

/// Ten runs at 100 ms, ± 1 ms, as segment `segment`.
std::vector<BaselinePoint> old_level(std::int64_t segment) { return series_of(around(100e6, 1e6, 10), segment); }

/// 120 ms were accepted, and `since` runs of that level followed.
Baseline accepted_baseline(int since) {
  Baseline baseline = baseline_of(step, {});
  std::vector<BaselinePoint> points = series_of(around(120e6, 1e6, static_cast<std::size_t>(since)), 0);
  for (const BaselinePoint& point : old_level(1)) points.push_back(point);
  baseline.series[step] = points;
  baseline.accepted[step] = {"run7", "c7", 120e6, "ann", "new data loader", "2027-01-01"};
  return baseline;
}

RuleResult first(const Verdict& verdict) { return verdict.rules.front(); }

}  // namespace

TEST_CASE("acceptance: what a run is after one") {
  struct Row {
    const char* name;
    int since;
    double value;
    Reason reason;
    Outcome outcome;
  };
  const Row rows[] = {
      {"the run itself", 0, 120e6, Reason::accepted, Outcome::warn},
      {"the next run of that level", 0, 121e6, Reason::accepted, Outcome::warn},
      {"worse once more", 0, 140e6, Reason::worse, Outcome::fail},
      {"back to the old level", 0, 100e6, Reason::better, Outcome::pass},
      {"while the level is short", 4, 121e6, Reason::accepted, Outcome::warn},
      {"a level of min_runs is silent", 5, 121e6, Reason::within, Outcome::pass},
      {"and guarded", 5, 140e6, Reason::worse, Outcome::fail},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const RuleResult rule = first(judge_one(run_of(step, row.value), accepted_baseline(row.since), policy_of(step_5)));
    CHECK(word(rule.reason) == word(row.reason));
    CHECK(rule.outcome == row.outcome);
  }
}

TEST_CASE("acceptance: the old alarm comes back when it is gone") {
  Baseline expired = baseline_of(step, {});
  expired.series[step] = old_level(0);
  CHECK(first(judge_one(run_of(step, 120e6), expired, policy_of(step_5))).reason == Reason::worse);
}

TEST_CASE("acceptance: it says who, why, and what now") {
  const RuleResult rule = first(judge_one(run_of(step, 120e6), accepted_baseline(0), policy_of(step_5)));
  CHECK(rule.sentence == "step.time_p50 is 120 ms, at the level that ann accepted: \"new data loader\"");
  CHECK(
      rule.next ==
      "Nothing: it is the baseline from run run7 on, until 2027-01-01; undo the acceptance to raise the alarm again.");
}

// Why: a limit that is broken for a known reason must not stop every commit until the policy is changed.
TEST_CASE("acceptance: absolute limits") {
  const Policy policy = policy_of("[rules.\"step.time_p50\"]\nmax = \"110 ms\"\n");
  CHECK(first(judge_one(run_of(step, 120e6), accepted_baseline(0), policy)).reason == Reason::accepted);
  CHECK(first(judge_one(run_of(step, 121e6), accepted_baseline(9), policy)).reason == Reason::accepted);
  CHECK(first(judge_one(run_of(step, 140e6), accepted_baseline(9), policy)).reason == Reason::over_limit);
  CHECK(first(judge_one(run_of(step, 100e6), accepted_baseline(9), policy)).reason == Reason::within);
  // An acceptance of a level below the limit says nothing about the limit.
  Baseline below = accepted_baseline(9);
  below.accepted[step].value = 105e6;
  CHECK(first(judge_one(run_of(step, 120e6), below, policy)).reason == Reason::over_limit);
}

TEST_CASE("acceptance: without noise from before, the level is learned") {
  Baseline baseline = baseline_of(step, {});
  baseline.accepted[step] = {"run7", "c7", 120e6, "ann", "why", ""};
  CHECK(first(judge_one(run_of(step, 120e6), baseline, policy_of(step_5))).reason == Reason::no_baseline);
}

namespace {

Baseline pinned_baseline(const std::vector<double>& recent, const std::vector<double>& pinned) {
  Baseline baseline = baseline_of(step, recent);
  baseline.pinned = PinnedBaseline{"v1.4", {}, {}};
  if (!pinned.empty()) baseline.pinned->series[step] = series_of(pinned);
  return baseline;
}

}  // namespace

// Why: ten steps of 1 % pass one by one, since the baseline follows; together they are 10 %.
TEST_CASE("pinned: ten steps of 1 % fail against the pin although each passes") {
  const Policy policy = policy_of(step_5);
  std::vector<double> newest_first(6, 100e6);
  double level = 100e6;
  for (int i = 1; i <= 10; ++i) {
    level *= 1.01;
    const Verdict verdict = judge_one(run_of(step, level), pinned_baseline(newest_first, {100e6}), policy);
    REQUIRE(verdict.rules.size() == 2);
    const RuleResult& pin = verdict.rules[verdict.rules[0].against.empty() ? 1 : 0];
    const RuleResult& usual = verdict.rules[verdict.rules[0].against.empty() ? 0 : 1];
    CAPTURE(i);
    CHECK(usual.outcome != Outcome::fail);
    CHECK(pin.against == "v1.4");
    if (i <= 4) CHECK(pin.outcome == Outcome::pass);
    if (i == 10) {
      CHECK(verdict.outcome == Outcome::fail);
      CHECK(pin.reason == Reason::worse);
      CHECK(pin.sentence == "step.time_p50 rose from 100 ms to 110 ms since v1.4 (+10.5 %, tolerance 5 %)");
    }
    for (int run = 0; run < 6; ++run) newest_first.insert(newest_first.begin(), level * (run % 2 == 0 ? 1.001 : 0.999));
    newest_first.resize(std::min<std::size_t>(newest_first.size(), 30));
  }
}

TEST_CASE("pinned: a name that nothing has is no pass") {
  const Verdict verdict =
      judge_one(run_of(step, 100e6), pinned_baseline(around(100e6, 1e6, 10), {}), policy_of(step_5));
  CHECK(verdict.outcome == Outcome::inconclusive);
  CHECK_FALSE(verdict.learning);
  CHECK(verdict.rules.front().reason == Reason::not_comparable);
  CHECK(verdict.rules.front().next == "Upload a run of v1.4, or pin another tag or run (baseline.pinned).");
}

TEST_CASE("pinned: an acceptance since moves the pin") {
  Baseline baseline = accepted_baseline(9);
  baseline.pinned = PinnedBaseline{"v1.4", {}, baseline.accepted};
  baseline.pinned->series[step] = series_of({100e6});
  CHECK(judge_one(run_of(step, 121e6), baseline, policy_of(step_5)).outcome == Outcome::pass);
  CHECK(judge_one(run_of(step, 140e6), baseline, policy_of(step_5)).outcome == Outcome::fail);
}

// Why: what was accepted for an old release says nothing about a pin that was set after it.
TEST_CASE("pinned: an older acceptance does not move the pin") {
  Baseline baseline = accepted_baseline(9);
  baseline.pinned = PinnedBaseline{"v1.5", {}, {}};
  baseline.pinned->series[step] = series_of({112e6});
  const Verdict verdict = judge_one(run_of(step, 121e6), baseline, policy_of(step_5));
  CHECK(verdict.outcome == Outcome::fail);
  CHECK(first(verdict).against == "v1.5");
}

// Why: after an accepted step up and a step half way back the pin is still where the step was accepted.
TEST_CASE("pinned: it stays moved when a better level begins its own segment") {
  Baseline baseline = baseline_of(step, around(110e6, 1e6, 8));
  baseline.pinned = PinnedBaseline{"v1.4", {}, {}};
  baseline.pinned->series[step] = series_of({100e6});
  CHECK(judge_one(run_of(step, 110e6), baseline, policy_of(step_5)).outcome == Outcome::fail);
  baseline.pinned->accepted[step] = {"run7", "c7", 120e6, "ann", "new data loader", ""};
  CHECK(judge_one(run_of(step, 110e6), baseline, policy_of(step_5)).outcome == Outcome::pass);
}

TEST_CASE("a compared rule tells its band") {
  const RuleResult rule =
      first(judge_one(run_of(step, 101e6), baseline_of(step, around(100e6, 1e6, 10)), policy_of(step_5)));
  REQUIRE(rule.band);
  CHECK(rule.band->level == rule.baseline->level);
  CHECK(rule.band->low < 99e6);
  CHECK(rule.band->high > 101e6);
  // Judged by the logarithm: as far up as down, as a ratio.
  CHECK(rule.band->high / rule.band->level == doctest::Approx(rule.band->level / rule.band->low));
  CHECK_FALSE(first(judge_one(run_of(step, 101e6), baseline_of(step, {}), policy_of(step_5))).band);
}

TEST_CASE("segments: an accepted level begins one, with or without runs of it") {
  std::vector<BaselinePoint> points = series_of(around(100e6, 1e6, 6), 7);
  CHECK(number_segments(points, Better::lower, 5, std::vector<std::size_t>{4}) == std::vector<std::size_t>{4});
  CHECK(points.front().segment == 0);
  CHECK(points[1].segment == 0);
  CHECK(points[2].segment == 1);
  number_segments(points, Better::lower, 5, std::vector<std::size_t>{6});
  CHECK(points.front().segment == 1);
}

TEST_CASE("pinned: absolute limits are judged once") {
  const Policy policy = policy_of("[rules.\"step.time_p50\"]\nmax = \"90 ms\"\n");
  CHECK(judge_one(run_of(step, 100e6), pinned_baseline(around(100e6, 1e6, 10), {100e6}), policy).rules.size() == 1);
}
