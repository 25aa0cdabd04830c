#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gate/judge.hpp"
#include "gate/judge_rule.hpp"
#include "tests/unit/gate/situations.hpp"

using namespace traceweir;
using namespace traceweir::gate;
using namespace traceweir::gate::situations;

namespace {

/// Judges every row; gives the reasons that came out.
std::set<Reason> check(const Rows& rows) {
  std::set<Reason> seen;
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const Verdict verdict = judge(row.runs, row.baseline, policy_of(row.policy));
    REQUIRE(verdict.rules.size() == (row.baseline.pinned ? 2 : 1));
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
  for (const Table table : tables) seen.merge(check(table()));
  for (int i = 0; i <= static_cast<int>(Reason::found); ++i) {
    const auto reason = static_cast<Reason>(i);
    CAPTURE(word(reason));
    CHECK(seen.contains(reason));
    CHECK(reason_of(word(reason)) == reason);
  }
}

// Why: who is warned, or left without a verdict, is told one thing to do, and it fits the reason: the same sentence
// under two reasons would send somebody the wrong way.
TEST_CASE("judge: every warning and every open verdict says what to do, each reason in its own words") {
  std::map<std::string, std::string_view> said;  // sentence → reason
  std::set<Reason> advised;
  for (const Table table : tables)
    for (const Row& row : table()) {
      CAPTURE(row.name);
      for (const RuleResult& rule : judge(row.runs, row.baseline, policy_of(row.policy)).rules) {
        if (rule.outcome != Outcome::warn && rule.outcome != Outcome::inconclusive) continue;
        CAPTURE(rule.next);
        REQUIRE_FALSE(rule.next.empty());
        CHECK(rule.next.front() >= 'A');
        CHECK(rule.next.front() <= 'Z');
        CHECK(rule.next.back() == '.');
        CHECK(rule.next.size() <= 240);
        advised.insert(rule.reason);
        const auto [it, first] = said.emplace(rule.next, word(rule.reason));
        if (!first) CHECK(it->second == word(rule.reason));
      }
    }
  for (int i = 0; i <= static_cast<int>(Reason::found); ++i) {
    const auto reason = static_cast<Reason>(i);
    CAPTURE(word(reason));
    const bool can =
        outcome_for(reason, Level::warn) == Outcome::warn || outcome_for(reason, Level::warn) == Outcome::inconclusive;
    CHECK(advised.contains(reason) == can);
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
