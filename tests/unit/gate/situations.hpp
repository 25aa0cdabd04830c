// For: one row per situation that a run can be in: what is run, what it is compared with, what comes out.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gate/judge.hpp"
#include "tests/unit/gate/cases.hpp"

namespace traceweir::gate::situations {

using namespace cases;

/// How a situation ends: the rule's outcome, and the exit code without and with --strict.
struct End {
  std::optional<Outcome> outcome;
  int exit, exit_strict;
};
inline const End passes{Outcome::pass, 0, 0}, warns{Outcome::warn, 0, 0}, fails{Outcome::fail, 1, 1};
inline const End unclear{Outcome::inconclusive, 3, 3}, learns{Outcome::inconclusive, 0, 3};
inline const End shown_alone{std::nullopt, 3, 3}, passes_alone{Outcome::pass, 3, 3};  ///< and no rule counts

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

inline JudgedRun uses(double value) { return run_of(utilization, value); }
inline JudgedRun takes(double value) { return run_of(step, value); }

inline JudgedRun without_steps(NotMeasured why) {
  JudgedRun run;
  run.measurements = {unmeasured(step, why)};
  return run;
}

inline JudgedRun with(JudgedRun run, FindingCode code, Severity severity) {
  run.findings.push_back(finding_of(code, severity));
  return run;
}
inline JudgedRun torn(JudgedRun run) { return with(std::move(run), FindingCode::truncated, Severity::data_loss); }
inline JudgedRun lonely(JudgedRun run) {
  run.ranks_expected = 8;
  run.ranks_present = 7;
  return run;
}

inline Baseline used(const std::vector<double>& values) { return baseline_of(utilization, values); }
inline Baseline beside(Baseline baseline, std::int64_t others) {
  baseline.other_class_runs = others;
  return baseline;
}
inline Baseline elsewhere(Baseline baseline, std::int64_t others) {
  baseline.place = Baseline::Place::elsewhere;
  return beside(std::move(baseline), others);
}

inline const std::string points = "[rules.\"gpu.utilization\"]\nworse_by = \"3pp\"\n";
inline const std::string at_least_85 = "[rules.\"gpu.utilization\"]\nmin = \"85%\"\n";
inline const std::string at_most_50 = "[rules.\"step.time_p50\"]\nmax = \"50 ms\"\n";
inline const std::string any_step_5 = "[rules.\"step.time_p5*\"]\nworse_by = \"5%\"\n";
inline const std::string straggler = "[rules]\n[findings.straggler]\n";
inline const std::string twice = "confirm = 2\n", at_warn = "level = \"warn\"\n", at_info = "level = \"info\"\n";
inline const std::string no_noise = "noise = \"none\"\n";

inline const Baseline nothing = used({}), two = used({0.89, 0.891});
inline const Baseline steady = used(around(0.89, 0.002, 10)), noisy = used(around(0.89, 0.04, 10));
inline const Baseline stepped = baseline_of(step, {1e6, 1e6});

inline Rows against_the_baseline() {
  return {
      {"as before", points, {uses(0.889)}, steady, Reason::within, passes},
      {"worse, tolerated", points, {uses(0.87)}, steady, Reason::within, passes},
      {"better", points, {uses(0.95)}, steady, Reason::better, passes},
      {"worse", points, {uses(0.68)}, steady, Reason::worse, fails},
      {"worse at warn", points + at_warn, {uses(0.68)}, steady, Reason::worse, warns},
      {"worse at info", points + at_info, {uses(0.68)}, steady, Reason::worse, shown_alone},
      {"worse, inside noise", points, {uses(0.77)}, noisy, Reason::worse_within_noise, warns},
      {"the same at info", points + at_info, {uses(0.77)}, noisy, Reason::worse_within_noise, shown_alone},
      {"worse, deep inside noise", points, {uses(0.84)}, noisy, Reason::within, passes},
      {"no noise is looked at", points + no_noise, {uses(0.84)}, noisy, Reason::worse, fails},
  };
}

inline Rows against_limits() {
  return {
      {"below the minimum", at_least_85, {uses(0.849)}, nothing, Reason::over_limit, fails},
      {"equal to the minimum", at_least_85, {uses(0.85)}, nothing, Reason::within, passes},
      {"above the limit", at_most_50, {takes(50000001)}, nothing, Reason::over_limit, fails},
      {"equal to the limit", at_most_50, {takes(50e6)}, nothing, Reason::within, passes},
      {"above it at info", at_most_50 + at_info, {takes(51e6)}, nothing, Reason::over_limit, shown_alone},
      {"below it at info", at_most_50 + at_info, {takes(49e6)}, nothing, Reason::within, passes_alone},
      {"above it at warn", at_most_50 + at_warn, {takes(51e6)}, nothing, Reason::over_limit, warns},
      {"it counts while learning", points + "min = \"85%\"\n", {uses(0.8)}, two, Reason::over_limit, fails},
      {"it holds while learning", points + "min = \"85%\"\n", {uses(0.88)}, two, Reason::short_baseline, learns},
  };
}

inline Rows confirmed() {
  const Reason asks = Reason::needs_confirmation;
  return {
      {"one of two", points + twice, {uses(0.68)}, steady, asks, unclear},
      {"two of two", points + twice, {uses(0.68), uses(0.69)}, steady, Reason::worse, fails},
      {"the second is fine", points + twice, {uses(0.68), uses(0.89)}, steady, Reason::worse_within_noise, warns},
      {"one of two above", at_most_50 + twice, {takes(51e6)}, nothing, asks, unclear},
      {"two above", at_most_50 + twice, {takes(51e6), takes(52e6)}, nothing, Reason::over_limit, fails},
      {"above it on average", at_most_50, {takes(24e6), takes(80e6)}, nothing, Reason::over_limit, fails},
      {"a freak run", at_most_50 + twice, {takes(90e6), takes(45e6)}, nothing, Reason::worse_within_noise, warns},
  };
}

inline Rows while_learning() {
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

/// The run "n0", at 0.70 where the level was 0.89, was accepted; since then there were so many runs at that level.
inline Baseline accepted(std::size_t runs_since) {
  Baseline baseline = used(around(0.70, 0.002, runs_since));
  for (BaselinePoint old : series_of(around(0.89, 0.002, 10), 1)) baseline.series[utilization].push_back(old);
  baseline.accepted[utilization] = {"n0", "c0", 0.70, "ada", "a new model", ""};
  return baseline;
}

inline Rows after_acceptance() {
  const std::string limited = points + "min = \"85%\"\n";
  return {
      {"first run at the level", points, {uses(0.701)}, accepted(0), Reason::accepted, warns},
      {"it is known by now", points, {uses(0.701)}, accepted(8), Reason::within, passes},
      {"beyond a limit as accepted", limited, {uses(0.701)}, accepted(8), Reason::accepted, warns},
      {"the same, of two that must agree", limited + twice, {uses(0.701)}, accepted(8), Reason::accepted, warns},
      {"the same, a limit alone", at_least_85 + twice, {uses(0.701)}, accepted(8), Reason::accepted, warns},
      {"and the second of them", at_least_85 + twice, {uses(0.701), uses(0.7)}, accepted(8), Reason::accepted, warns},
      {"a first run that is worse",
       at_least_85 + twice,
       {uses(0.60)},
       accepted(8),
       Reason::needs_confirmation,
       unclear},
      {"two that are worse", at_least_85 + twice, {uses(0.60), uses(0.6)}, accepted(8), Reason::over_limit, fails},
      {"worse than accepted", points, {uses(0.60)}, accepted(2), Reason::worse, fails},
      {"worse, and beyond a limit", limited, {uses(0.60)}, accepted(8), Reason::over_limit, fails},
  };
}

/// Two rules per metric come out: the ordinary one and the one against the pin; the reason is the worse of both.
inline Baseline pinned(Baseline baseline, const std::vector<double>& values) {
  baseline.pinned = PinnedBaseline{"v1.4", {}, {}};
  if (!values.empty()) baseline.pinned->series[utilization] = series_of(values);
  return baseline;
}

inline Baseline moved(Baseline baseline, double level) {
  baseline.pinned->accepted[utilization] = {"n0", "c0", level, "ada", "a new model", "2027-01-01"};
  return baseline;
}

inline Rows against_a_pin() {
  const std::string pin = points + "[baseline]\npinned = \"v1.4\"\n";
  return {
      {"as the pin", pin, {uses(0.889)}, pinned(steady, {0.889}), Reason::within, passes},
      {"worse than the pin", pin, {uses(0.889)}, pinned(steady, {0.95, 0.951}), Reason::worse, fails},
      {"the pin moved here", pin, {uses(0.889)}, moved(pinned(steady, {0.95}), 0.89), Reason::within, passes},
      {"the pin moved away", pin, {uses(0.889)}, moved(pinned(steady, {0.89}), 0.95), Reason::worse, fails},
      {"nothing is pinned", pin, {uses(0.889)}, pinned(steady, {}), Reason::not_comparable, unclear},
  };
}

inline Rows without_data() {
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

inline JudgedRun of_two_ranks(JudgedRun run) {
  run.ranks_expected = run.ranks_present = 2;
  return run;
}

inline Rows with_findings() {
  const JudgedRun found = with(uses(0.9), FindingCode::straggler, Severity::warning);
  const JudgedRun other = of_two_ranks(with(uses(0.9), FindingCode::gap, Severity::warning));
  return {
      {"found", straggler, {found}, nothing, Reason::found, fails},
      {"found at warn", straggler + at_warn, {found}, nothing, Reason::found, warns},
      {"found at info", straggler + at_info, {found}, nothing, Reason::found, shown_alone},
      {"another one", straggler, {other}, nothing, Reason::within, passes},
      {"one rank cannot have it", straggler, {uses(0.9)}, nothing, Reason::not_measured, unclear},
      {"half a trace proves nothing", straggler, {torn(uses(0.9))}, nothing, Reason::data_loss, unclear},
      {"found in half a trace", "[rules]\n[findings.truncated]\n", {torn(uses(0.9))}, nothing, Reason::found, fails},
  };
}

using Table = Rows (*)();
inline constexpr Table tables[] = {&against_the_baseline, &against_limits, &confirmed,    &while_learning,
                                   &after_acceptance,     &against_a_pin,  &without_data, &with_findings};

}  // namespace traceweir::gate::situations
