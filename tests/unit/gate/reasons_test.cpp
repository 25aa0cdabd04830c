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

/// How a situation ends: the rule's outcome, and the exit code without and with --strict.
struct End {
  std::optional<Outcome> outcome;
  int exit, exit_strict;
};
const End passes{Outcome::pass, 0, 0}, warns{Outcome::warn, 0, 0}, fails{Outcome::fail, 1, 1};
const End unclear{Outcome::inconclusive, 3, 3}, learns{Outcome::inconclusive, 0, 3};
const End shown{std::nullopt, 0, 0}, shown_alone{std::nullopt, 3, 3};

/// One situation of the gate: what is run, what it is compared with, what comes out.
struct Row {
  const char* name;
  std::string policy;
  std::vector<JudgedRun> runs;
  Baseline baseline;
  Reason reason;
  End end;
};
using Rows = std::vector<Row>;

JudgedRun uses(double value) { return run_of(utilization, value); }
JudgedRun takes(double value) { return run_of(step, value); }

JudgedRun without_steps(NotMeasured why) {
  JudgedRun run;
  run.measurements = {unmeasured(step, why)};
  return run;
}

JudgedRun with(JudgedRun run, FindingCode code, Severity severity) {
  run.findings.push_back(finding_of(code, severity));
  return run;
}
JudgedRun torn(JudgedRun run) { return with(std::move(run), FindingCode::truncated, Severity::data_loss); }
JudgedRun lonely(JudgedRun run) {
  run.ranks_expected = 8;
  run.ranks_present = 7;
  return run;
}

Baseline used(const std::vector<double>& values) { return baseline_of(utilization, values); }
Baseline beside(Baseline baseline, std::int64_t others) {
  baseline.other_class_runs = others;
  return baseline;
}
Baseline elsewhere(Baseline baseline, std::int64_t others) {
  baseline.place = Baseline::Place::elsewhere;
  return beside(std::move(baseline), others);
}

const std::string points = "[rules.\"gpu.utilization\"]\nworse_by = \"3pp\"\n";
const std::string at_least_85 = "[rules.\"gpu.utilization\"]\nmin = \"85%\"\n";
const std::string at_most_50 = "[rules.\"step.time_p50\"]\nmax = \"50 ms\"\n";
const std::string step_5 = "[rules.\"step.time_p50\"]\nworse_by = \"5%\"\n";
const std::string any_step_5 = "[rules.\"step.time_p5*\"]\nworse_by = \"5%\"\n";
const std::string straggler = "[rules]\n[findings.straggler]\n";
const std::string twice = "confirm = 2\n", at_warn = "level = \"warn\"\n", at_info = "level = \"info\"\n";
const std::string no_noise = "noise = \"none\"\n";

const Baseline nothing = used({}), two = used({0.89, 0.891});
const Baseline steady = used(around(0.89, 0.002, 10)), noisy = used(around(0.89, 0.04, 10));
const Baseline stepped = baseline_of(step, {1e6, 1e6});

Rows against_the_baseline() {
  return {
      {"as before", points, {uses(0.889)}, steady, Reason::within, passes},
      {"worse, tolerated", points, {uses(0.87)}, steady, Reason::within, passes},
      {"better", points, {uses(0.95)}, steady, Reason::better, passes},
      {"worse", points, {uses(0.68)}, steady, Reason::worse, fails},
      {"worse at warn", points + at_warn, {uses(0.68)}, steady, Reason::worse, warns},
      {"worse at info", points + at_info, {uses(0.68)}, steady, Reason::worse, shown},
      {"worse, inside noise", points, {uses(0.77)}, noisy, Reason::worse_within_noise, warns},
      {"the same at info", points + at_info, {uses(0.77)}, noisy, Reason::worse_within_noise, shown},
      {"worse, deep inside noise", points, {uses(0.84)}, noisy, Reason::within, passes},
      {"no noise is looked at", points + no_noise, {uses(0.84)}, noisy, Reason::worse, fails},
  };
}

Rows against_limits() {
  return {
      {"below the minimum", at_least_85, {uses(0.849)}, nothing, Reason::over_limit, fails},
      {"equal to the minimum", at_least_85, {uses(0.85)}, nothing, Reason::within, passes},
      {"above the limit", at_most_50, {takes(50000001)}, nothing, Reason::over_limit, fails},
      {"equal to the limit", at_most_50, {takes(50e6)}, nothing, Reason::within, passes},
      {"above it at warn", at_most_50 + at_warn, {takes(51e6)}, nothing, Reason::over_limit, warns},
      {"it counts while learning", points + "min = \"85%\"\n", {uses(0.8)}, two, Reason::over_limit, fails},
      {"it holds while learning", points + "min = \"85%\"\n", {uses(0.88)}, two, Reason::short_baseline, learns},
  };
}

Rows confirmed() {
  const Reason asks = Reason::needs_confirmation;
  return {
      {"one of two", points + twice, {uses(0.68)}, steady, asks, unclear},
      {"two of two", points + twice, {uses(0.68), uses(0.69)}, steady, Reason::worse, fails},
      {"the second is fine", points + twice, {uses(0.68), uses(0.89)}, steady, Reason::worse_within_noise, warns},
      {"one of two above", at_most_50 + twice, {takes(51e6)}, nothing, asks, unclear},
      {"two above", at_most_50 + twice, {takes(51e6), takes(52e6)}, nothing, Reason::over_limit, fails},
      {"a freak run", at_most_50 + twice, {takes(90e6), takes(45e6)}, nothing, Reason::worse_within_noise, warns},
  };
}

Rows while_learning() {
  return {
      {"two runs of five", points, {uses(0.88)}, two, Reason::short_baseline, learns},
      {"first run of a project", points, {uses(0.88)}, nothing, Reason::no_baseline, learns},
      {"first of an environment", points, {uses(0.88)}, beside(nothing, 20), Reason::new_environment, learns},
      {"third of an environment", points, {uses(0.88)}, beside(two, 20), Reason::new_environment, learns},
      {"a branch without its class", points, {uses(0.88)}, elsewhere(nothing, 20), Reason::not_comparable, unclear},
      {"a branch of a new project", points, {uses(0.88)}, elsewhere(nothing, 0), Reason::no_baseline, learns},
      {"a branch, short baseline", points, {uses(0.88)}, elsewhere(two, 20), Reason::short_baseline, learns},
  };
}

Rows without_data() {
  const JudgedRun none = without_steps(NotMeasured::no_steps);
  const JudgedRun misfit = without_steps(NotMeasured::untrusted_data);
  return {
      {"named", step_5, {none}, nothing, Reason::not_measured, unclear},
      {"not even in the report", step_5, {JudgedRun{}}, nothing, Reason::not_measured, unclear},
      {"matched by a pattern", any_step_5, {none}, nothing, Reason::not_applicable, shown_alone},
      {"matched, the baseline has it", any_step_5, {none}, stepped, Reason::metric_missing, unclear},
      {"named, the baseline has it", step_5, {none}, stepped, Reason::metric_missing, unclear},
      {"ranks that do not fit", step_5, {misfit}, stepped, Reason::untrusted_data, unclear},
      {"data lost", points, {torn(uses(0.68))}, steady, Reason::data_loss, unclear},
      {"data lost, a limit too", at_least_85, {torn(uses(0.68))}, steady, Reason::data_loss, unclear},
      {"a rank is missing", points, {lonely(uses(0.68))}, steady, Reason::missing_rank, unclear},
      {"loss goes first", points, {torn(lonely(uses(0.68)))}, steady, Reason::data_loss, unclear},
  };
}

Rows with_findings() {
  const JudgedRun found = with(uses(0.9), FindingCode::straggler, Severity::warning);
  const JudgedRun other = with(uses(0.9), FindingCode::gap, Severity::warning);
  return {
      {"found", straggler, {found}, nothing, Reason::found, fails},
      {"found at warn", straggler + at_warn, {found}, nothing, Reason::found, warns},
      {"found at info", straggler + at_info, {found}, nothing, Reason::found, shown},
      {"another one", straggler, {other}, nothing, Reason::within, passes},
      {"half a trace proves nothing", straggler, {torn(uses(0.9))}, nothing, Reason::data_loss, unclear},
      {"found in half a trace", "[rules]\n[findings.truncated]\n", {torn(uses(0.9))}, nothing, Reason::found, fails},
  };
}

/// Judges every row; gives the reasons that came out.
std::set<Reason> check(const Rows& rows) {
  std::set<Reason> seen;
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const Verdict verdict = judge(row.runs, row.baseline, policy_of(row.policy));
    REQUIRE(verdict.rules.size() == 1);
    const RuleResult& rule = verdict.rules.front();
    CAPTURE(rule.sentence);
    CHECK(word(rule.reason) == word(row.reason));
    CHECK(rule.outcome == row.end.outcome);
    CHECK(exit_code(verdict, Strictness::lenient) == row.end.exit);
    CHECK(exit_code(verdict, Strictness::strict) == row.end.exit_strict);
    CHECK_FALSE(rule.sentence.empty());
    CHECK_FALSE(verdict.summary.empty());
    // Whoever is not simply told "fine" is told what to do.
    if (rule.outcome && *rule.outcome != Outcome::pass) CHECK_FALSE(rule.next.empty());
    seen.insert(rule.reason);
  }
  return seen;
}

}  // namespace

// Why: one row per situation that a user can be in; the reason decides outcome and exit code, and nothing passes by
// absence of data.
TEST_CASE("judge: the truth table of reasons") {
  std::set<Reason> seen;
  for (const auto rows :
       {&against_the_baseline, &against_limits, &confirmed, &while_learning, &without_data, &with_findings})
    seen.merge(check(rows()));
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
  const Policy policy = policy_of(points + step_5);
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
