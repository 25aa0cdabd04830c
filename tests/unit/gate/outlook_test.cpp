#include "gate/outlook.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/unit/gate/cases.hpp"

using namespace traceweir;
using namespace traceweir::gate;
using namespace traceweir::gate::cases;

namespace {

const std::string points_3 = "[rules.\"gpu.utilization\"]\nworse_by = \"3pp\"\n";

std::vector<RuleOutlook> outlooks(const std::string& toml, const Baseline& baseline, const JudgedRun& newest) {
  return outlook_of(policy_of(toml), baseline, newest);
}

RuleOutlook only(const std::string& toml, const Baseline& baseline, const JudgedRun& newest) {
  const auto rows = outlooks(toml, baseline, newest);
  REQUIRE(rows.size() == 1);
  return rows.front();
}

}  // namespace

TEST_CASE("outlook: sentences") {
  struct Row {
    const char* name;
    std::string policy;
    Baseline baseline;
    JudgedRun newest;
    std::string want;
  };
  const Baseline nothing = baseline_of(step, {});
  JudgedRun found = run_of(utilization, 0.9);
  found.ranks_expected = found.ranks_present = 2;
  JudgedRun two_ranks = found;
  found.findings = {finding_of(FindingCode::straggler, Severity::warning)};
  JudgedRun torn = run_of(step, 100e6);
  torn.findings = {finding_of(FindingCode::truncated, Severity::data_loss)};
  torn.ranks_expected = 8;
  Baseline pinned = baseline_of(step, around(100e6, 0.2e6, 30));
  pinned.pinned = PinnedBaseline{"v1.4", {}, {}};
  const std::string on_finding = "[rules]\n[findings.straggler]\n";
  const std::string sees =
      "step.time_p50: 30 runs, level 100.0 ms ± 0.2 %: would fail above 105.0 ms; can see +5.2 % "
      "today, +5.2 % after 20 more runs.";
  const Row rows[] = {
      {"judged", step_5, baseline_of(step, around(100e6, 0.2e6, 30)), run_of(step, 103e6), sees},
      {"the newest run is not whole", step_5, baseline_of(step, around(100e6, 0.2e6, 30)), torn, sees},
      {"higher is better", points_3 + "level = \"warn\"\n", baseline_of(utilization, around(0.89, 0.002, 10)),
       run_of(utilization, 0.89),
       "gpu.utilization: 10 runs, level 89.0 % ± 0.2 pp: would warn below 86.0 %; can see -3.2 pp today, -3.2 pp after "
       "20 more runs."},
      {"confirm", step_5 + "confirm = 2\n", baseline_of(step, around(100e6, 0.2e6, 30)), run_of(step, 103e6),
       "step.time_p50: 30 runs, level 100.0 ms ± 0.2 %: would fail above 105.0 ms, once 2 runs of a commit agree; can "
       "see "
       "+5.3 % today, +5.3 % after 20 more runs."},
      {"learning", step_5, baseline_of(step, {100e6, 101e6}), run_of(step, 100e6),
       "step.time_p50: 2 runs, too few to judge by. Upload 3 more runs of main; then this rule is judged."},
      {"learning beside a limit", step_5 + "max = \"120 ms\"\n", nothing, run_of(step, 100e6),
       "step.time_p50: 0 runs, too few to judge by. Upload 5 more runs of main; then this rule is judged. Already now "
       "it "
       "would fail above 120 ms."},
      {"a limit alone", "[rules.\"step.time_p50\"]\nmax = \"120 ms\"\n", nothing, run_of(step, 100e6),
       "step.time_p50: would fail above 120 ms."},
      {"a limit alone, with a baseline", "[rules.\"step.time_p50\"]\nmax = \"120 ms\"\n", baseline_of(step, {99e6}),
       run_of(step, 100e6), "step.time_p50: would fail above 120 ms."},
      {"a limit that is broken today", "[rules.\"step.time_p50\"]\nmax = \"90 ms\"\n", nothing, run_of(step, 100e6),
       "step.time_p50: would fail above 90 ms; today's level is beyond it."},
      {"a minimum", "[rules.\"gpu.utilization\"]\nmin = \"85%\"\n", nothing, run_of(utilization, 0.9),
       "gpu.utilization: would fail below 85.0 %."},
      {"no run yet", step_5, nothing, JudgedRun{},
       "step.time_p50: no run of main yet, learning 0/5. Upload 5 runs of it; then this rule is judged."},
      {"no run yet, a pattern and a limit", "[rules.\"step.time_p5*\"]\nworse_by = \"5%\"\nmax = \"2 s\"\n", nothing,
       JudgedRun{},
       "step.time_p5*: no run of main yet, learning 0/5. Upload 5 runs of it; then this rule is judged. Its limits "
       "would fail above 2 s from the first run on."},
      {"no run yet, limits alone", "[rules.\"gpu.utilization\"]\nmin = \"50%\"\nlevel = \"warn\"\n", nothing,
       JudgedRun{}, "gpu.utilization: no run of main yet; would warn below 50 % from the first run on."},
      {"no run yet, a finding", on_finding, nothing, JudgedRun{}, "finding:straggler: would fail where it is made."},
      {"measured by nobody, named", step_5, nothing, run_of(utilization, 0.9),
       "step.time_p50: would be inconclusive (not_measured): step.time_p50 was not measured. Check how the job is "
       "profiled: the trace has nothing that step.time_p50 is measured from."},
      {"measured by nobody, by a pattern", "[rules.\"step.time_p5*\"]\nworse_by = \"5%\"\n", nothing,
       run_of(utilization, 0.9), "step.time_p50: no run of main measures it, and it is left out."},
      {"a finding", on_finding, nothing, two_ranks, "finding:straggler: would fail where it is made."},
      {"a finding that one rank cannot have", on_finding, nothing, run_of(utilization, 0.9),
       "finding:straggler: would be inconclusive (not_measured): straggler cannot be judged: it takes two ranks, and "
       "there is one. Upload one trace per rank, or take findings.straggler out of this workload's policy."},
      {"a finding that is there", on_finding, nothing, found,
       "finding:straggler: would fail where it is made; the newest run has it."},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(only(row.policy, row.baseline, row.newest).sentence == row.want);
  }
  const auto both = outlooks(step_5 + "[baseline]\npinned = \"v1.4\"\n", pinned, run_of(step, 100e6));
  REQUIRE(both.size() == 2);
  CHECK(both[0].sentence == sees);
  CHECK(
      both[1].sentence ==
      "step.time_p50 against v1.4: would be inconclusive (not_comparable): step.time_p50 is 100.0 ms, and v1.4, which "
      "the "
      "policy pins, has no value of it. Upload a run of v1.4, or pin another tag or run (baseline.pinned).");
}

TEST_CASE("outlook: noise that hides everything is said") {
  const RuleOutlook blind = only(step_5, baseline_of(step, around(100e6, 25e6, 6)), run_of(step, 100e6));
  CHECK(blind.sentence.find("This rule is nearly blind") != std::string::npos);
  const RuleOutlook hopeless = only("[rules.\"gpu.utilization\"]\nworse_by = \"3pp\"\n",
                                    baseline_of(utilization, around(0.5, 0.4, 6)), run_of(utilization, 0.5));
  CHECK(hopeless.sentence.find("no value that it can have would fail") != std::string::npos);
  CHECK(!hopeless.fails_at);
}

// Why: "after 20 more runs" must be what the judge will then say of a history with the same noise.
TEST_CASE("outlook: what is seen after more runs is what a longer history of the same noise sees") {
  for (const std::size_t runs : {6UL, 10UL, 20UL}) {
    const auto zero = "[rules.\"step.time_p50\"]\nworse_by = \"0%\"\n";
    const Baseline today = baseline_of(step, around(100e6, 2e6, runs));
    const RuleOutlook row = only(zero, today, run_of(step, 100e6));
    REQUIRE((row.detectable && row.later));
    CHECK(*row.later < *row.detectable);
    // The spread of a longer history whose standard deviation is the same.
    const double n = static_cast<double>(runs), more = n + 20;
    const double spread = 2e6 * std::sqrt(n / (n - 1)) * std::sqrt((more - 1) / more);
    const RuleOutlook then = only(zero, baseline_of(step, around(100e6, spread, runs + 20)), run_of(step, 100e6));
    CHECK(*row.later == doctest::Approx(*then.detectable).epsilon(0.02));
  }
}
