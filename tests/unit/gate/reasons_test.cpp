#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "gate/judge.hpp"
#include "gate/judge_rule.hpp"
#include "tests/unit/gate/cases.hpp"

using namespace traceweir;
using namespace traceweir::gate;
using namespace traceweir::gate::cases;

namespace {

constexpr const char* utilization = "gpu.utilization";
constexpr const char* step = "step.time_p50";

/// One situation of the gate: what is run, what it is compared with, what comes out.
struct Row {
  const char* name;
  std::string policy;
  std::vector<JudgedRun> runs;
  Baseline baseline;
  Reason reason;
  std::optional<Outcome> outcome;  ///< of the first rule
  int exit, exit_strict;
};

JudgedRun without(const char* metric, NotMeasured why) {
  JudgedRun run;
  run.measurements = {unmeasured(metric, why)};
  return run;
}

JudgedRun with_loss(JudgedRun run) {
  run.findings.push_back(finding_of(FindingCode::truncated, Severity::data_loss));
  return run;
}

JudgedRun with_missing_rank(JudgedRun run) {
  run.ranks_expected = 8;
  run.ranks_present = 7;
  return run;
}

JudgedRun with_finding(JudgedRun run, FindingCode code) {
  run.findings.push_back(finding_of(code, Severity::warning));
  return run;
}

Baseline elsewhere(Baseline baseline, std::int64_t others) {
  baseline.place = Baseline::Place::elsewhere;
  baseline.other_class_runs = others;
  return baseline;
}

Baseline with_others(Baseline baseline, std::int64_t others) {
  baseline.other_class_runs = others;
  return baseline;
}

const std::string worse_3pp = "[rules.\"gpu.utilization\"]\nworse_by = \"3pp\"\n";
const std::string step_5 = "[rules.\"step.time_p50\"]\nworse_by = \"5%\"\n";
const std::vector<double> steady = around(0.89, 0.002, 10);
const std::vector<double> noisy = around(0.89, 0.04, 10);

std::vector<Row> rows() {
  const Baseline baseline = baseline_of(utilization, steady);
  const Baseline nothing = baseline_of(utilization, {});
  const Baseline two = baseline_of(utilization, {0.89, 0.891});
  return {
      {"as before", worse_3pp, {run_of(utilization, 0.889)}, baseline, Reason::within, Outcome::pass, 0, 0},
      {"worse than before, tolerated",
       worse_3pp,
       {run_of(utilization, 0.87)},
       baseline,
       Reason::within,
       Outcome::pass,
       0,
       0},
      {"better", worse_3pp, {run_of(utilization, 0.95)}, baseline, Reason::better, Outcome::pass, 0, 0},
      {"worse", worse_3pp, {run_of(utilization, 0.68)}, baseline, Reason::worse, Outcome::fail, 1, 1},
      {"worse at warn",
       worse_3pp + "level = \"warn\"\n",
       {run_of(utilization, 0.68)},
       baseline,
       Reason::worse,
       Outcome::warn,
       0,
       0},
      {"worse at info",
       worse_3pp + "level = \"info\"\n",
       {run_of(utilization, 0.68)},
       baseline,
       Reason::worse,
       std::nullopt,
       0,
       0},
      {"worse than the tolerance, inside noise",
       worse_3pp,
       {run_of(utilization, 0.77)},
       baseline_of(utilization, noisy),
       Reason::worse_within_noise,
       Outcome::warn,
       0,
       0},
      {"worse than the tolerance, deep inside noise",
       worse_3pp,
       {run_of(utilization, 0.84)},
       baseline_of(utilization, noisy),
       Reason::within,
       Outcome::pass,
       0,
       0},
      {"no noise is looked at",
       worse_3pp + "noise = \"none\"\n",
       {run_of(utilization, 0.84)},
       baseline_of(utilization, noisy),
       Reason::worse,
       Outcome::fail,
       1,
       1},
      {"one run of two that must agree",
       worse_3pp + "confirm = 2\n",
       {run_of(utilization, 0.68)},
       baseline,
       Reason::needs_confirmation,
       Outcome::inconclusive,
       3,
       3},
      {"two runs agree",
       worse_3pp + "confirm = 2\n",
       {run_of(utilization, 0.68), run_of(utilization, 0.69)},
       baseline,
       Reason::worse,
       Outcome::fail,
       1,
       1},
      {"the second run does not agree",
       worse_3pp + "confirm = 2\n",
       {run_of(utilization, 0.68), run_of(utilization, 0.89)},
       baseline,
       Reason::worse_within_noise,
       Outcome::warn,
       0,
       0},
      {"below the minimum",
       "[rules.\"gpu.utilization\"]\nmin = \"85%\"\n",
       {run_of(utilization, 0.849)},
       nothing,
       Reason::over_limit,
       Outcome::fail,
       1,
       1},
      {"equal to the minimum",
       "[rules.\"gpu.utilization\"]\nmin = \"85%\"\n",
       {run_of(utilization, 0.85)},
       nothing,
       Reason::within,
       Outcome::pass,
       0,
       0},
      {"above the limit",
       "[rules.\"step.time_p50\"]\nmax = \"50 ms\"\n",
       {run_of(step, 50000001)},
       nothing,
       Reason::over_limit,
       Outcome::fail,
       1,
       1},
      {"equal to the limit",
       "[rules.\"step.time_p50\"]\nmax = \"50 ms\"\n",
       {run_of(step, 50e6)},
       nothing,
       Reason::within,
       Outcome::pass,
       0,
       0},
      {"above the limit at warn",
       "[rules.\"step.time_p50\"]\nmax = \"50 ms\"\nlevel = \"warn\"\n",
       {run_of(step, 51e6)},
       nothing,
       Reason::over_limit,
       Outcome::warn,
       0,
       0},
      {"the limit counts while learning",
       worse_3pp + "min = \"85%\"\n",
       {run_of(utilization, 0.8)},
       two,
       Reason::over_limit,
       Outcome::fail,
       1,
       1},
      {"learning, the limit holds",
       worse_3pp + "min = \"85%\"\n",
       {run_of(utilization, 0.88)},
       two,
       Reason::short_baseline,
       Outcome::inconclusive,
       0,
       3},
      {"one run of two above the limit",
       "[rules.\"step.time_p50\"]\nmax = \"50 ms\"\nconfirm = 2\n",
       {run_of(step, 51e6)},
       nothing,
       Reason::needs_confirmation,
       Outcome::inconclusive,
       3,
       3},
      {"two runs above the limit",
       "[rules.\"step.time_p50\"]\nmax = \"50 ms\"\nconfirm = 2\n",
       {run_of(step, 51e6), run_of(step, 52e6)},
       nothing,
       Reason::over_limit,
       Outcome::fail,
       1,
       1},
      {"one freak run never fails a commit",
       "[rules.\"step.time_p50\"]\nmax = \"50 ms\"\nconfirm = 2\n",
       {run_of(step, 90e6), run_of(step, 45e6)},
       nothing,
       Reason::worse_within_noise,
       Outcome::warn,
       0,
       0},
      {"two runs of five",
       worse_3pp,
       {run_of(utilization, 0.88)},
       two,
       Reason::short_baseline,
       Outcome::inconclusive,
       0,
       3},
      {"first run of a project",
       worse_3pp,
       {run_of(utilization, 0.88)},
       nothing,
       Reason::no_baseline,
       Outcome::inconclusive,
       0,
       3},
      {"first run of an environment",
       worse_3pp,
       {run_of(utilization, 0.88)},
       with_others(nothing, 20),
       Reason::new_environment,
       Outcome::inconclusive,
       0,
       3},
      {"second run of an environment",
       worse_3pp,
       {run_of(utilization, 0.88)},
       with_others(two, 20),
       Reason::new_environment,
       Outcome::inconclusive,
       0,
       3},
      {"a pull request without its class",
       worse_3pp,
       {run_of(utilization, 0.88)},
       elsewhere(nothing, 20),
       Reason::not_comparable,
       Outcome::inconclusive,
       3,
       3},
      {"a pull request to a new project",
       worse_3pp,
       {run_of(utilization, 0.88)},
       elsewhere(nothing, 0),
       Reason::no_baseline,
       Outcome::inconclusive,
       0,
       3},
      {"a pull request, short baseline",
       worse_3pp,
       {run_of(utilization, 0.88)},
       elsewhere(two, 20),
       Reason::short_baseline,
       Outcome::inconclusive,
       0,
       3},
      {"named, not measured",
       step_5,
       {without(step, NotMeasured::no_steps)},
       nothing,
       Reason::not_measured,
       Outcome::inconclusive,
       3,
       3},
      {"matched, not measured",
       "[rules.\"step.time_p5*\"]\nworse_by = \"5%\"\n",
       {without(step, NotMeasured::no_steps)},
       nothing,
       Reason::not_applicable,
       std::nullopt,
       3,
       3},
      {"matched, the baseline has it",
       "[rules.\"step.time_p5*\"]\nworse_by = \"5%\"\n",
       {without(step, NotMeasured::no_steps)},
       baseline_of(step, {1e6, 1e6}),
       Reason::metric_missing,
       Outcome::inconclusive,
       3,
       3},
      {"named, the baseline has it",
       step_5,
       {without(step, NotMeasured::no_steps)},
       baseline_of(step, {1e6}),
       Reason::metric_missing,
       Outcome::inconclusive,
       3,
       3},
      {"not even in the report", step_5, {JudgedRun{}}, nothing, Reason::not_measured, Outcome::inconclusive, 3, 3},
      {"ranks that do not fit",
       step_5,
       {without(step, NotMeasured::untrusted_data)},
       baseline_of(step, {1e6}),
       Reason::untrusted_data,
       Outcome::inconclusive,
       3,
       3},
      {"data lost",
       worse_3pp,
       {with_loss(run_of(utilization, 0.68))},
       baseline,
       Reason::data_loss,
       Outcome::inconclusive,
       3,
       3},
      {"data lost, an absolute limit too",
       "[rules.\"gpu.utilization\"]\nmin = \"85%\"\n",
       {with_loss(run_of(utilization, 0.68))},
       baseline,
       Reason::data_loss,
       Outcome::inconclusive,
       3,
       3},
      {"a rank is missing",
       worse_3pp,
       {with_missing_rank(run_of(utilization, 0.68))},
       baseline,
       Reason::missing_rank,
       Outcome::inconclusive,
       3,
       3},
      {"data loss goes before a missing rank",
       worse_3pp,
       {with_loss(with_missing_rank(run_of(utilization, 0.68)))},
       baseline,
       Reason::data_loss,
       Outcome::inconclusive,
       3,
       3},
      {"a finding",
       "[rules]\n[findings.straggler]\n",
       {with_finding(run_of(utilization, 0.9), FindingCode::straggler)},
       nothing,
       Reason::found,
       Outcome::fail,
       1,
       1},
      {"a finding at warn",
       "[rules]\n[findings.straggler]\nlevel = \"warn\"\n",
       {with_finding(run_of(utilization, 0.9), FindingCode::straggler)},
       nothing,
       Reason::found,
       Outcome::warn,
       0,
       0},
      {"another finding",
       "[rules]\n[findings.straggler]\n",
       {with_finding(run_of(utilization, 0.9), FindingCode::gap)},
       nothing,
       Reason::within,
       Outcome::pass,
       0,
       0},
      {"no finding in half a trace proves nothing",
       "[rules]\n[findings.straggler]\n",
       {with_loss(run_of(utilization, 0.9))},
       nothing,
       Reason::data_loss,
       Outcome::inconclusive,
       3,
       3},
      {"a finding in half a trace counts",
       "[rules]\n[findings.truncated]\n",
       {with_loss(run_of(utilization, 0.9))},
       nothing,
       Reason::found,
       Outcome::fail,
       1,
       1},
  };
}

}  // namespace

// Why: one row per situation that a user can be in; the reason decides outcome and exit code, and nothing passes by
// absence of data.
TEST_CASE("judge: the truth table of reasons") {
  std::set<Reason> seen;
  for (const Row& row : rows()) {
    CAPTURE(row.name);
    const Verdict verdict = judge(row.runs, row.baseline, policy_of(row.policy));
    REQUIRE(verdict.rules.size() == 1);
    const RuleResult& rule = verdict.rules.front();
    CAPTURE(rule.sentence);
    CHECK(word(rule.reason) == word(row.reason));
    CHECK(rule.outcome == row.outcome);
    CHECK(exit_code(verdict, Strictness::lenient) == row.exit);
    CHECK(exit_code(verdict, Strictness::strict) == row.exit_strict);
    CHECK_FALSE(rule.sentence.empty());
    CHECK_FALSE(verdict.summary.empty());
    // Whoever is not simply told "fine" is told what to do.
    if (rule.outcome && *rule.outcome != Outcome::pass) CHECK_FALSE(rule.next.empty());
    seen.insert(row.reason);
  }
  // `accepted` comes with acceptances, which no input of the judge carries yet.
  for (int i = 0; i <= static_cast<int>(Reason::found); ++i) {
    const auto reason = static_cast<Reason>(i);
    CAPTURE(word(reason));
    CHECK(seen.contains(reason) == (reason != Reason::accepted));
    CHECK(reason_of(word(reason)) == reason);
  }
}

// Why: source is the table of the gate's specification, section 1, with the levels.
TEST_CASE("judge: what a reason does at each level") {
  struct Effect {
    Reason reason;
    std::optional<Outcome> at_fail, at_warn, at_info;
  };
  const auto inconclusive = Outcome::inconclusive;
  const Effect effects[] = {
      {Reason::within, Outcome::pass, Outcome::pass, Outcome::pass},
      {Reason::better, Outcome::pass, Outcome::pass, Outcome::pass},
      {Reason::worse_within_noise, Outcome::warn, Outcome::warn, std::nullopt},
      {Reason::accepted, Outcome::warn, Outcome::warn, std::nullopt},
      {Reason::over_limit, Outcome::fail, Outcome::warn, std::nullopt},
      {Reason::worse, Outcome::fail, Outcome::warn, std::nullopt},
      {Reason::found, Outcome::fail, Outcome::warn, std::nullopt},
      {Reason::not_applicable, std::nullopt, std::nullopt, std::nullopt},
      {Reason::short_baseline, inconclusive, inconclusive, std::nullopt},
      {Reason::data_loss, inconclusive, inconclusive, std::nullopt},
      {Reason::needs_confirmation, inconclusive, inconclusive, std::nullopt},
  };
  for (const Effect& effect : effects) {
    CAPTURE(word(effect.reason));
    CHECK(outcome_for(effect.reason, Level::fail) == effect.at_fail);
    CHECK(outcome_for(effect.reason, Level::warn) == effect.at_warn);
    CHECK(outcome_for(effect.reason, Level::info) == effect.at_info);
  }
}

// Why: fail > inconclusive > warn > pass, and the worst rule is the first that a reader sees.
TEST_CASE("judge: the worst rule wins and comes first") {
  const Policy policy = policy_of(R"(
[rules."gpu.idle"]
max = "50%"
[rules."step.time_p50"]
max = "50 ms"
level = "warn"
[rules."allreduce.time_mean"]
max = "50 ms"
[rules."gpu.utilization"]
min = "85%"
)");
  JudgedRun run = run_of("gpu.idle", 0.1);
  run.measurements.push_back(measured("step.time_p50", 60e6));
  CHECK(judge_one(run, {}, policy).outcome == Outcome::inconclusive);
  run.measurements.push_back(measured("gpu.utilization", 0.5));
  const Verdict verdict = judge_one(run, {}, policy);
  CHECK(verdict.outcome == Outcome::fail);
  CHECK_FALSE(verdict.learning);
  std::vector<std::string> order;
  for (const RuleResult& rule : verdict.rules) order.push_back(rule.metric);
  CHECK(order == std::vector<std::string>{"gpu.utilization", "allreduce.time_mean", "step.time_p50", "gpu.idle"});
  CHECK(verdict.summary == "gpu.utilization is 50.0 %, below the minimum of 85 %");
}

TEST_CASE("judge: learning is the only reason that lets an inconclusive run pass its exit code") {
  const Policy policy = policy_of("[rules.\"gpu.utilization\"]\nworse_by = \"3pp\"\n" + step_5);
  JudgedRun run = run_of(utilization, 0.9);
  run.measurements.push_back(unmeasured(step, NotMeasured::no_steps));
  const Verdict mixed = judge_one(run, {}, policy);
  CHECK(mixed.outcome == Outcome::inconclusive);
  CHECK_FALSE(mixed.learning);
  CHECK(exit_code(mixed, Strictness::lenient) == 3);
  // The built-in rules leave out what the job does not do, and learn the rest.
  const Verdict built_in = judge_one(run, {}, built_in_policy());
  CHECK(built_in.learning);
  CHECK(exit_code(built_in, Strictness::lenient) == 0);
  CHECK(built_in.summary.starts_with("learning 0/5: gpu.utilization is 90.0 %"));
}

TEST_CASE("judge: a policy without rules judges nothing, and that is no pass") {
  const Verdict verdict = judge_one(run_of(utilization, 0.9), {}, policy_of("[rules]\n"));
  CHECK(verdict.outcome == Outcome::inconclusive);
  CHECK_FALSE(verdict.learning);
  CHECK(verdict.summary == "nothing was judged: the policy has no rule");
}
