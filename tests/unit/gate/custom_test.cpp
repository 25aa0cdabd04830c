// Rules on metrics that the job measured itself: unit and better side come with the run.
#include "tests/unit/gate/cases.hpp"

using namespace traceweir;
using namespace traceweir::gate;
using namespace traceweir::gate::cases;

namespace {

JudgedRun run_with(double value, const char* unit, Better better) {
  JudgedRun run;
  run.id = "run";
  run.measurements = {
      metrics::in_base_unit({"custom.epoch", Number(value), unit_of(unit).value(), better, std::nullopt})};
  return run;
}

Policy rule(const std::string& keys) { return policy_of("version = 1\n[rules.\"custom.epoch\"]\n" + keys + "\n"); }

}  // namespace

// Why: people write limits in the unit that is handy, and jobs change from ms to s.
TEST_CASE("custom rules: limits are compared in base units") {
  struct Row {
    const char* rule;
    double value;
    const char* unit;
    Outcome want;
  };
  const Row rows[] = {
      {"max = \"2 s\"", 1.5, "s", Outcome::pass},
      {"max = \"2 s\"", 1500, "ms", Outcome::pass},
      {"max = \"1400 ms\"", 1.5, "s", Outcome::fail},
      {"min = \"1200 tokens/s\"", 1300, "tokens/s", Outcome::pass},
      {"min = \"1200 tokens/s\"", 1100, "tokens/s", Outcome::fail},
      {"min = \"90%\"", 95, "%", Outcome::pass},
      {"min = \"90%\"", 0.85, "ratio", Outcome::fail},
      {"max = \"1 GiB\"", 512, "MiB", Outcome::pass},
      {"max = 5", 6, "count", Outcome::fail},
      // what cannot be compared is never a pass
      {"max = \"2 s\"", 1, "tokens/s", Outcome::inconclusive},
      {"max = 5", 1, "s", Outcome::inconclusive},
  };
  for (const Row& row : rows) {
    CAPTURE(row.rule);
    CAPTURE(row.value);
    const Verdict verdict =
        judge_one(run_with(row.value, row.unit, Better::lower), baseline_of("custom.epoch", {}), rule(row.rule));
    CHECK(verdict.outcome == row.want);
  }
}

// Why: a run must not choose what it is compared in: seconds are no GiB, and a change must not turn its own gate round.
TEST_CASE("custom rules: a unit or a better side that is not the baseline's is never judged") {
  struct Row {
    const char* keys;
    ValueKind baseline;
    double value;
    const char* unit;
    Better better;
    Reason want;
    const char* says;
  };
  const ValueKind seconds{Unit::ns, Better::lower};
  const Row rows[] = {
      {"worse_by = \"5%\"", seconds, 1.0, "s", Better::lower, Reason::within, ""},
      {"worse_by = \"5%\"", seconds, 1000, "ms", Better::lower, Reason::within, ""},
      {"worse_by = \"5%\"", seconds, 1.0, "GiB", Better::lower, Reason::untrusted_data,
       "its values are in bytes here, and in ns in the baseline"},
      {"worse_by = \"5%\"", seconds, 3.0, "s", Better::higher, Reason::untrusted_data,
       "its better side is higher here, and lower in the baseline"},
      {"worse_by = \"5%\"\ndirection = \"lower\"", seconds, 3.0, "s", Better::higher, Reason::worse, ""},
      {"worse_by = \"5%\"", {Unit::ns, Better::none}, 1.0, "s", Better::lower, Reason::within, ""},
      {"max = \"2 GiB\"", seconds, 1.0, "GiB", Better::lower, Reason::within, ""},  // no baseline is asked
  };
  for (const Row& row : rows) {
    CAPTURE(row.keys);
    CAPTURE(row.unit);
    Baseline baseline = baseline_of("custom.epoch", around(1e9, 1e6, 8));
    baseline.kinds["custom.epoch"] = row.baseline;
    const Verdict verdict = judge_one(run_with(row.value, row.unit, row.better), baseline, rule(row.keys));
    REQUIRE(verdict.rules.size() == 1);
    const RuleResult& result = verdict.rules.front();
    CHECK(result.reason == row.want);
    CHECK(result.sentence.find(row.says) != std::string::npos);
    if (row.want == Reason::untrusted_data) CHECK(result.next.find("baseline.epoch") != std::string::npos);
  }
}

TEST_CASE("custom rules: the better side is the run's, or the rule's direction") {
  const Baseline baseline = baseline_of("custom.epoch", {1e9, 1e9, 1e9, 1e9, 1e9, 1e9});
  const auto outcome = [&](double seconds, Better better, const char* keys) {
    return judge_one(run_with(seconds, "s", better), baseline, rule(keys));
  };
  CHECK(outcome(1.2, Better::lower, "worse_by = \"10%\"").outcome == Outcome::fail);
  CHECK(outcome(1.2, Better::higher, "worse_by = \"10%\"").outcome == Outcome::pass);
  CHECK(outcome(0.8, Better::none, "worse_by = \"10%\"\ndirection = \"higher\"").outcome == Outcome::fail);
  const Verdict sideless = outcome(1.0, Better::none, "worse_by = \"10%\"");
  CHECK(sideless.outcome == Outcome::inconclusive);
  CHECK(sideless.rules.front().next.find("direction") != std::string::npos);
  CHECK(outcome(1.0, Better::lower, "worse_by = \"3pp\"").outcome == Outcome::inconclusive);
}

// Why: the data are right. Called untrusted they would leave every baseline for ever, and the fault is the policy's.
TEST_CASE("custom rules: one that does not fit is said to be the policy's fault") {
  struct Row {
    const char* rule;
    const char* unit;
    Better better;
    const char* sentence;
    const char* next;
  };
  const Row rows[] = {
      {"max = \"2 GiB\"", "s", Better::lower,
       "custom.epoch is 1.20 s, and its rule says \"2 GiB\" where its values are in ns", "Change the policy"},
      {"max = 5", "s", Better::lower, "its rule says \"5\" where its values are in ns", "in ns"},
      {"at_least = \"1 ms\"\nworse_by = \"5%\"", "tokens/s", Better::higher,
       "its rule says \"1 ms\" where its values are in tokens/s", "in tokens/s"},
      {"worse_by = \"3pp\"", "s", Better::lower, "its rule says \"3pp\" where its values are no ratios", "percentage"},
      {"worse_by = \"5%\"", "s", Better::none, "neither it nor its rule says which side is better", "direction"},
  };
  const Baseline baseline = baseline_of("custom.epoch", {1e9, 1e9, 1e9, 1e9, 1e9, 1e9});
  for (const Row& row : rows) {
    CAPTURE(row.rule);
    const Verdict verdict = judge_one(run_with(1.2, row.unit, row.better), baseline, rule(row.rule));
    REQUIRE(verdict.rules.size() == 1);
    const RuleResult& result = verdict.rules.front();
    CHECK(verdict.outcome == Outcome::inconclusive);
    CHECK_FALSE(verdict.learning);
    CHECK(result.reason == Reason::not_comparable);
    CHECK(result.sentence.find(row.sentence) != std::string::npos);
    CHECK(result.next.find(row.next) != std::string::npos);
  }
}

TEST_CASE("custom rules: named and missing is inconclusive; a pattern finds what the run has") {
  CHECK(judge_one(run_of("gpu.utilization", 0.9), baseline_of("custom.epoch", {}), rule("max = 1")).outcome ==
        Outcome::inconclusive);
  const Policy pattern = policy_of("version = 1\n[rules.\"custom.*\"]\nmax = \"1 s\"\n");
  const Verdict verdict = judge_one(run_with(1.5, "s", Better::lower), baseline_of("custom.epoch", {}), pattern);
  REQUIRE(verdict.rules.size() == 1);
  CHECK(verdict.rules.front().metric == "custom.epoch");
  CHECK(verdict.outcome == Outcome::fail);
}

TEST_CASE("units of others: words, bases, and what is none") {
  CHECK(base_of(Unit("s")).unit == Unit::ns);
  CHECK(base_of(Unit("tokens/s")).unit == Unit("tokens/s"));
  CHECK(unit_of("GB/s") == Unit::gb_per_s);
  for (const char* bad : {"", "a,b", "<b>", "123456789012345678901234", "a\nb", "\xff"}) CHECK_FALSE(unit_of(bad));
}

// Why: a metric that a pattern gates must not leave the gate by no longer being written.
TEST_CASE("custom rules: what a pattern matched in the baseline and the run lacks is missing") {
  const Policy pattern = policy_of("version = 1\n[rules.\"custom.*\"]\nworse_by = \"5%\"\n");
  Baseline baseline = baseline_of("custom.epoch", {1e9, 1e9, 1e9, 1e9, 1e9, 1e9});
  baseline.series["custom.gone"] = series_of({1, 1, 1, 1, 1, 1});
  baseline.series["other"] = {};
  const Verdict verdict = judge_one(run_with(1, "s", Better::lower), baseline, pattern);
  CHECK(verdict.outcome == Outcome::inconclusive);
  REQUIRE(verdict.rules.size() == 2);
  CHECK(verdict.rules.front().metric == "custom.gone");
  CHECK(verdict.rules.front().reason == Reason::metric_missing);
}

// Why: 5 s and 20 s are 12.5 s, and 12.5 s is above 11 s.
TEST_CASE("limits: several runs of a commit are judged by their arithmetic mean, which is shown") {
  const std::vector<JudgedRun> runs{run_with(5, "s", Better::lower), run_with(20, "s", Better::lower)};
  for (const char* keys : {"max = \"11 s\"", "max = \"11 s\"\nworse_by = \"5%\""}) {
    CAPTURE(keys);
    const Verdict verdict = judge(runs, baseline_of("custom.epoch", {}), rule(keys));
    REQUIRE(verdict.rules.size() == 1);
    CHECK(verdict.rules.front().reason == Reason::over_limit);
    CHECK(*verdict.rules.front().observed == doctest::Approx(12.5e9));
  }
}
