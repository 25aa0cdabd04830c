#include "gate/judge.hpp"

#include <doctest/doctest.h>

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "gate/statistics.hpp"
#include "tests/unit/gate/cases.hpp"

using namespace traceweir;
using namespace traceweir::gate;
using namespace traceweir::gate::cases;

namespace {}  // namespace

// Why: these sentences are what stands in the CI log; the first is the one of the documentation.
// Why: with several runs of a commit the value is none that any of its reports shows; unsaid, that reads as an error.
TEST_CASE("judge: what a result shows beside its reason") {
  const RuleResult rule = rule_of(step, 120e6, {101e6, 99e6, 100e6, 102e6, 98e6}, step_5);
  CHECK(rule.reason == Reason::worse);
  CHECK(rule.unit == "ns");
  CHECK(rule.better == Better::lower);
  CHECK(rule.tolerance == "5%");
  REQUIRE(rule.baseline.has_value());
  CHECK(rule.baseline->runs == 5);
  CHECK(rule.baseline->median == 100e6);
  CHECK(rule.baseline->level == doctest::Approx(99.99e6).epsilon(1e-4));
  CHECK(rule.baseline->noise == doctest::Approx(1.581e6).epsilon(0.01));
  CHECK(rule.baseline->degrees == 4);
  CHECK(rule.baseline->segments == 1);
  CHECK(rule.baseline->first == "base4");
  CHECK(rule.baseline->last == "base0");
  CHECK(rule.baseline->commit == "commit0");
  CHECK(*rule.delta == doctest::Approx(20.01e6).epsilon(1e-3));
  CHECK(*rule.delta_ratio == doctest::Approx(0.2001).epsilon(1e-3));
  // s·√(1 + 1/5)·T⁻¹(Φ(3); 4), on the logarithmic scale.
  const double width = rule.baseline->noise / rule.baseline->level * std::sqrt(1.2) * student_upper(normal_tail(3), 4);
  CHECK(*rule.fails_at == doctest::Approx(rule.baseline->level * std::exp(width)).epsilon(1e-9));
  CHECK(*rule.detectable > *rule.fails_at - rule.baseline->level);
  CHECK(rule.next.find("run base0 (commit commit0)") != std::string::npos);
}

// Why: fails_at is what a user plans with, so it must be where the answer changes, on either side and scale.
TEST_CASE("judge: fails_at is where a rule breaks") {
  struct Row {
    const char* metric;
    std::vector<double> baseline;
    const char* rule;
    double side;
  };
  const Row rows[] = {
      {step, around(100e6, 1e6, 10), "worse_by = \"5%\"", 1},
      {step, around(100e6, 4e6, 10), "worse_by = \"5%\"", 1},
      {utilization, around(0.89, 0.002, 10), "worse_by = \"3pp\"", -1},
      {utilization, around(0.89, 0.02, 12), "worse_by = \"3pp\"\nnoise = \"mad\"", -1},
      {utilization, around(0.89, 0.02, 12), "worse_by = \"3pp\"\nnoise = \"t\"", -1},
      {utilization, around(0.89, 0.02, 12), "worse_by = \"3pp\"\nnoise = \"none\"", -1},
      {"allreduce.busbw", around(200, 5, 10), "worse_by = \"10%\"", -1},
      {step, around(100e6, 1e6, 10), "worse_by = \"5%\"\nmax = \"101 ms\"", 1},
      {utilization, around(0.89, 0.002, 10), "worse_by = \"3pp\"\nmin = \"88%\"", -1},
      {step, around(100e6, 1e6, 10), "at_least = \"9 ms\"", 1},
  };
  for (const Row& row : rows) {
    CAPTURE(row.rule);
    const std::string policy = fmt::format("[rules.\"{}\"]\n{}\n", row.metric, row.rule);
    const double at = rule_of(row.metric, row.baseline[0], row.baseline, policy).fails_at.value();
    const double step_size = 1e-7 * std::abs(at);
    CHECK(rule_of(row.metric, at - row.side * step_size, row.baseline, policy).outcome != Outcome::fail);
    CHECK(rule_of(row.metric, at + row.side * step_size, row.baseline, policy).outcome == Outcome::fail);
  }
}

// Why: a history of equal values has no noise; without a floor any change at all would fail, or none ever.
TEST_CASE("judge: the resolution is the least noise") {
  const std::vector<double> constant(10, 100e6);
  const std::string any = "[rules.\"step.time_p50\"]\nworse_by = \"0%\"\n";
  CHECK(rule_of(step, 100.01e6, constant, any).reason == Reason::within);
  CHECK(rule_of(step, 100.2e6, constant, any).reason == Reason::worse);
  CHECK(rule_of(step, 100e6, constant, any).baseline->noise == doctest::Approx(1e4));
  CHECK(rule_of(step, 100e6, constant, any).baseline->level == 100e6);
  const std::string points = "[rules.\"gpu.utilization\"]\nworse_by = \"0pp\"\n";
  CHECK(rule_of(utilization, 0.799, std::vector<double>(10, 0.8), points).reason == Reason::within);
  CHECK(rule_of(utilization, 0.79, std::vector<double>(10, 0.8), points).reason == Reason::worse);
}

// Why: a percentage of nothing is nothing: only at_least and the resolution are left.
// Why: the band must hold for normal and for log-normal noise. By hand, for s of the five values 98, 99, 100, 101, 102
// (1.5811 as they are, 0.015814 as logarithms) and T⁻¹(Φ(3); 4) = 6.6201 times √(1 + 1/5).
TEST_CASE("judge: upwards by the logarithm, downwards by the value itself") {
  struct Row {
    const char* name;
    const char* metric;
    double unit;
    double fails_at;
  };
  const Row rows[] = {
      {"a time", step, 1e6, 99.99 * std::exp(0.015814 * std::sqrt(1.2) * 6.6201)},
      {"a rate", "allreduce.busbw", 1, 100 - 1.5811 * std::sqrt(1.2) * 6.6201},
      {"a share that should be low", "gpu.idle", 0.002, 99.99 * std::exp(0.015814 * std::sqrt(1.2) * 6.6201)},
      {"a share that should be high", utilization, 0.008, 100 - 1.5811 * std::sqrt(1.2) * 6.6201},
      {"a share near 0: the resolution is the noise", "gpu.idle", 0.00005, 100 + 20 * std::sqrt(1.2) * 6.6201},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    std::vector<double> values;
    for (const double value : {98.0, 99.0, 100.0, 101.0, 102.0}) values.push_back(value * row.unit);
    const bool is_share = metric_info(row.metric)->unit == Unit::ratio;
    const std::string policy = fmt::format("[rules.\"{}\"]\nworse_by = \"{}\"\n", row.metric, is_share ? "0pp" : "0%");
    const RuleResult rule = rule_of(row.metric, values.front(), values, policy);
    REQUIRE(rule.fails_at.has_value());
    CHECK(*rule.fails_at / row.unit == doctest::Approx(row.fails_at).epsilon(1e-4));
  }
}

// Why: after one freak run a second one that is a little worse than the level must not confirm it. Level 100, s = 1
// (0.01 as logarithm), n = 20: the band of one run for one in twenty is 0.01 · √(1 + 1/20) · T⁻¹(0.95; 19) = 1.79 %.
TEST_CASE("judge: a run that confirms another is itself beyond what noise does to one run in twenty") {
  std::vector<double> values;
  for (int i = 0; i < 10; ++i) values.insert(values.end(), {100.0e6 * std::exp(0.00975), 100.0e6 * std::exp(-0.00975)});
  const Policy policy = policy_of("[rules.\"step.time_p50\"]\nworse_by = \"0%\"\nconfirm = 2\n");
  const auto reason = [&](std::vector<double> observed) {
    std::vector<JudgedRun> runs;
    for (const double value : observed) runs.push_back(run_of(step, value * 1e6));
    return judge(runs, cases::baseline_of(step, values), policy).rules.front().reason;
  };
  CHECK(reason({120}) == Reason::needs_confirmation);
  CHECK(reason({120, 99}) == Reason::worse_within_noise);
  CHECK(reason({120, 101.7}) == Reason::worse_within_noise);
  CHECK(reason({120, 101.9}) == Reason::worse);
  CHECK(reason({101.7, 120}) == Reason::worse_within_noise);
  CHECK(reason({120, 101.7, 101.9}) == Reason::worse);
}

TEST_CASE("judge: a level of 0") {
  const std::vector<double> zero(8, 0.0);
  const std::string exposed = "[rules.\"comm.exposed_per_step\"]\nworse_by = \"10%\"\nat_least = \"0.1 ms\"\n";
  CHECK(rule_of("comm.exposed_per_step", 0, zero, exposed).reason == Reason::within);
  CHECK(rule_of("comm.exposed_per_step", 0.1e6, zero, exposed).reason == Reason::within);
  const RuleResult worse = rule_of("comm.exposed_per_step", 0.2e6, zero, exposed);
  CHECK(worse.reason == Reason::worse);
  CHECK_FALSE(worse.delta_ratio.has_value());
  CHECK(rule_of("sync.count_per_step", 1, zero, "[rules.\"sync.count_per_step\"]\nworse_by = \"10%\"\n").reason ==
        Reason::worse);
}

TEST_CASE("judge: tolerance and at_least must both be exceeded, and a value equal to them passes") {
  const std::string rule = "[rules.\"step.time_p50\"]\nworse_by = \"10%\"\nat_least = \"2 ms\"\nnoise = \"none\"\n";
  CHECK(rule_of(step, 11e6, std::vector<double>(5, 10e6), rule).reason == Reason::within);
  CHECK(rule_of(step, 12e6, std::vector<double>(5, 10e6), rule).reason == Reason::within);
  CHECK(rule_of(step, 12.1e6, std::vector<double>(5, 10e6), rule).reason == Reason::worse);
  CHECK(rule_of(step, 110e6, std::vector<double>(5, 100e6), rule).reason == Reason::within);
  CHECK(rule_of(step, 110.1e6, std::vector<double>(5, 100e6), rule).reason == Reason::worse);
  // A fall by more than the whole level cannot be: such a rule sleeps at this level.
  const std::string busbw = "[rules.\"allreduce.busbw\"]\nworse_by = \"10%\"\nat_least = \"50 GB/s\"\n";
  CHECK(rule_of("allreduce.busbw", 1, std::vector<double>(5, 40), busbw).reason == Reason::within);
  CHECK_FALSE(rule_of("allreduce.busbw", 1, std::vector<double>(5, 40), busbw).fails_at.has_value());
}

TEST_CASE("judge: a direction makes a metric gateable that has no better side") {
  const std::string lower = "[rules.\"allreduce.count\"]\nworse_by = \"10%\"\ndirection = \"lower\"\n";
  CHECK(rule_of("allreduce.count", 150, std::vector<double>(6, 100), lower).reason == Reason::worse);
  const std::string higher = "[rules.\"allreduce.count\"]\nworse_by = \"10%\"\ndirection = \"higher\"\n";
  CHECK(rule_of("allreduce.count", 150, std::vector<double>(6, 100), higher).reason == Reason::better);
  CHECK(rule_of("allreduce.count", 50, std::vector<double>(6, 100), higher).better == Better::higher);
}

// Why: levels change, noise mostly does not: 3 runs after an accepted change borrow the noise of the runs before it.
TEST_CASE("judge: noise is pooled over segments, the level is the current segment's") {
  Baseline baseline = baseline_of(step, {});
  auto& points = baseline.series[step];
  points = series_of(around(120e6, 1e6, 6), 0);
  for (const BaselinePoint& point : series_of(around(100e6, 1e6, 20), 1)) points.push_back(point);
  for (const BaselinePoint& point : series_of(around(80e6, 0.8e6, 10), 4)) points.push_back(point);
  const RuleResult rule = only_rule(judge_one(run_of(step, 121e6), baseline, policy_of(step_5)));
  CHECK(rule.reason == Reason::within);
  CHECK(rule.baseline->level == doctest::Approx(120e6).epsilon(1e-4));
  CHECK(rule.baseline->segments == 3);
  CHECK(rule.baseline->noise_runs == 36);
  CHECK(rule.baseline->degrees == 33);
  CHECK(rule.baseline->runs == 6);
  const RuleResult own = only_rule(judge_one(run_of(step, 121e6), baseline, policy_of(step_5 + "noise = \"t\"\n")));
  CHECK(own.baseline->degrees == 5);
  // The current segment alone is what `min_runs` counts.
  points.erase(points.begin(), points.begin() + 3);
  CHECK(only_rule(judge_one(run_of(step, 121e6), baseline, policy_of(step_5))).sentence ==
        "learning 3/5: step.time_p50 is 121 ms");
}

TEST_CASE("judge: at most `runs` of the newest make the level") {
  std::vector<double> values = around(120e6, 1e6, 6);
  for (const double value : around(100e6, 1e6, 6)) values.push_back(value);
  const RuleResult rule = rule_of(step, 121e6, values, step_5 + "[baseline]\nruns = 6\n");
  CHECK(rule.baseline->level == doctest::Approx(120e6).epsilon(1e-4));
  CHECK(rule.baseline->runs == 6);
  CHECK(rule.baseline->first == "base5");
  CHECK(rule.baseline->noise_runs == 12);
}

// Why: one throttled run in a long history must not hide regressions, but from a short one nothing is rejected: that
// would shrink the noise and make false alarms.
TEST_CASE("judge: outliers are rejected from 20 residuals on, if they are fewer than 5 %") {
  const auto noise_with = [](std::size_t ordinary, std::size_t outliers) {
    std::vector<double> values = around(100e6, 1e6, ordinary);
    for (std::size_t i = 0; i < outliers; ++i) values.push_back(160e6);
    return rule_of(step, 100e6, values, step_5 + "[baseline]\nruns = 100\n").baseline.value();
  };
  CHECK(noise_with(18, 1).noise > 5e6);  // 19 residuals: too few to know
  CHECK(noise_with(19, 1).noise > 5e6);  // 1 of 20 is not fewer than 5 %
  CHECK(noise_with(24, 1).noise < 1.5e6);
  CHECK(noise_with(24, 1).runs == 24);
  CHECK(noise_with(24, 1).level == doctest::Approx(100e6).epsilon(1e-3));
  CHECK(noise_with(24, 2).noise > 5e6);
  CHECK(noise_with(90, 4).noise < 1.5e6);
}

TEST_CASE("judge: a rule that needs more runs than min_runs says so") {
  const std::string none = "[baseline]\nmin_runs = 1\n" + step_5;
  CHECK(rule_of(step, 200e6, {100e6}, none + "noise = \"none\"\n").reason == Reason::worse);
  CHECK(rule_of(step, 200e6, {100e6}, none).sentence == "learning 1/2: step.time_p50 is 200 ms");
  CHECK(rule_of(step, 200e6, {100e6}, none + "noise = \"t\"\n").sentence == "learning 1/2: step.time_p50 is 200 ms");
  CHECK(rule_of(step, 200e6, {100e6, 101e6}, none + "noise = \"mad\"\n").sentence ==
        "learning 2/4: step.time_p50 is 200 ms");
}

// Why: with five runs on each side ranks decide, where these sizes can reach the probability: 5 + 5 cannot (1/252).
TEST_CASE("judge: the exact rank test") {
  const auto judged = [](std::size_t runs, double value, std::size_t baseline) {
    std::vector<JudgedRun> commit;
    for (std::size_t i = 0; i < runs; ++i) commit.push_back(run_of(step, value + 0.01e6 * static_cast<double>(i)));
    // A wide but ordered history: every run of the commit is above all of it, yet inside a band of 3 sigmas.
    return only_rule(judge(commit, baseline_of(step, around(100e6, 3e6, baseline)),
                           policy_of("[rules.\"step.time_p50\"]\nworse_by = \"5%\"\n[baseline]\nruns = 100\n")))
        .reason;
  };
  CHECK(judged(5, 106e6, 8) == Reason::worse);               // 1/1287 < 0.00135
  CHECK(judged(4, 106e6, 8) == Reason::worse_within_noise);  // four runs are judged by the band
  CHECK(judged(5, 106e6, 5) != Reason::worse);
  CHECK(judged(5, 104e6, 8) == Reason::within);
}

TEST_CASE("judge: a nearly blind rule says so") {
  const RuleResult rule =
      rule_of(utilization, 0.88, around(0.89, 0.03, 6), "[rules.\"gpu.utilization\"]\nworse_by = \"3pp\"\n");
  CHECK(rule.reason == Reason::within);
  CHECK(rule.next.starts_with("This rule is nearly blind: the noise of the baseline reaches"));
  CHECK(rule_of(utilization, 0.88, around(0.89, 0.005, 6), "[rules.\"gpu.utilization\"]\nworse_by = \"3pp\"\n")
            .next.empty());
}

// Why: a band that reaches beyond what a share can be will never fail, and must not pretend to.
TEST_CASE("judge: what lies outside the metric's range is neither detectable nor a threshold") {
  const RuleResult rule = rule_of("gpu.idle", 0.7, around(0.6, 0.2, 6), "[rules.\"gpu.idle\"]\nworse_by = \"3pp\"\n");
  CHECK_FALSE(rule.fails_at.has_value());
  CHECK_FALSE(rule.detectable.has_value());
  CHECK(rule.next.find("nearly blind") != std::string::npos);
}

TEST_CASE("judge: earlier runs of the commit count, unless they are not whole") {
  JudgedRun lost = run_of(step, 300e6);
  lost.id = "r1";
  lost.findings.push_back(finding_of(FindingCode::lost_events, Severity::data_loss));
  const Baseline baseline = baseline_of(step, around(100e6, 1e6, 10));
  const Verdict verdict =
      judge(std::vector{lost, run_of(step, 102e6), run_of(step, 100e6)}, baseline, policy_of(step_5));
  const RuleResult rule = only_rule(verdict);
  CHECK(rule.confirm_have == 2);
  CHECK(*rule.observed == doctest::Approx(101e6).epsilon(1e-4));
  REQUIRE(verdict.notes.size() == 1);
  CHECK(verdict.notes[0] == "Run r1 of this commit is left out: it is not whole.");
}

// Why: what a user does next stands in one line of the CI log, and is English.
TEST_CASE("judge: numbers that are none are no measurements") {
  for (const double value : {std::nan(""), HUGE_VAL, -HUGE_VAL, 1e200}) {
    CAPTURE(value);
    CHECK(rule_of(step, value, around(100e6, 1e6, 10), step_5).reason == Reason::untrusted_data);
    std::vector<double> poisoned = around(100e6, 1e6, 10);
    poisoned.push_back(value);
    CHECK(rule_of(step, 100e6, poisoned, step_5).reason == Reason::within);
  }
  JudgedRun other_unit = run_of(step, 100e6);
  other_unit.measurements[0].unit = Unit::bytes;
  CHECK(only_rule(judge_one(other_unit, baseline_of(step, around(100e6, 1e6, 10)), policy_of(step_5))).reason ==
        Reason::untrusted_data);
}

TEST_CASE("judge: the verdict carries where its baseline came from") {
  Baseline baseline = baseline_of(step, around(100e6, 0, 10));
  baseline.runs = {"base0", "base1"};
  baseline.notes = {"The nearest measured ancestor of abc is def."};
  const Verdict verdict = judge_one(run_of(step, 100e6), baseline, policy_of(step_5));
  CHECK(verdict.ancestry == "known");
  CHECK(verdict.notes == baseline.notes);
  CHECK(verdict.baseline_runs == baseline.runs);
  CHECK(verdict.summary == "1 rule holds: step.time_p50 is unchanged at 100 ms (0 %, tolerance 5 %)");
}

// Why: these are the numbers of the worked example of docs/gate.md.
TEST_CASE("judge: the worked example of the documentation") {
  const std::vector<double> five{0.893, 0.889, 0.892, 0.890, 0.891};
  const std::string points = "[rules.\"gpu.utilization\"]\nworse_by = \"3pp\"\n";
  const RuleResult rule = rule_of(utilization, 0.68, five, points);
  CHECK(rule.sentence == "gpu.utilization fell from 89.1 % to 68.0 % (-21.1 pp, tolerance 3 pp)");
  CHECK(rule.baseline->level == doctest::Approx(0.891));
  CHECK(rule.baseline->noise == doctest::Approx(0.00158).epsilon(0.005));
  CHECK(rule.baseline->degrees == 4);
  CHECK(student_upper(normal_tail(3), 4) == doctest::Approx(6.620).epsilon(0.001));
  CHECK(*rule.fails_at == doctest::Approx(0.861));
  CHECK(*rule.detectable == doctest::Approx(0.0316).epsilon(0.005));
  const RuleResult wide = rule_of(utilization, 0.85, {0.92, 0.86, 0.90, 0.88, 0.895}, points);
  CHECK(wide.reason == Reason::within);
  CHECK(wide.baseline->noise == doctest::Approx(0.0224).epsilon(0.005));
  CHECK(*wide.fails_at == doctest::Approx(0.7290).epsilon(0.001));
  CHECK(*wide.detectable == doctest::Approx(0.185).epsilon(0.005));
  CAPTURE(wide.next);
  CHECK(wide.next.starts_with("This rule is nearly blind: the noise of the baseline reaches 16.3 pp"));
}
