#include <doctest/doctest.h>

#include <string>

#include "gate/policy.hpp"

using namespace traceweir;
using namespace traceweir::gate;

namespace {

/// A policy of so many rules, each of another metric.
std::string many_rules(const std::string& before, const std::string& after, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i)
    text += "[rules.\"" + before + std::to_string(i) + after + "\"]\nworse_by = \"5%\"\n";
  return text;
}
struct Mistake {
  const char* toml;
  const char* want;  ///< the message, or its beginning
};

void check(const Mistake& row, ErrorCode code) {
  CAPTURE(row.toml);
  const Result<Policy> policy = parse_policy(row.toml);
  REQUIRE_FALSE(policy.has_value());
  CHECK(policy.error().code == code);
  CHECK_MESSAGE(policy.error().message.starts_with(row.want), policy.error().message);
}

}  // namespace

// Why: a policy with a typo that is read anyway gates something else than its author thinks. Every message names the
// line and the key.
TEST_CASE("policy errors: keys, types and words") {
  const Mistake rows[] = {
      {"version = 2\n", "line 1: version: this version of the gate reads policies of version 1"},
      {"version = \"1\"\n", "line 1: version: must be an integer, not a string"},
      {"project = 5\n", "line 1: project: must be a string, not an integer"},
      {"project = \"\"\n", "line 1: project: must not be empty"},
      {"project = \"a\\u0007b\"\n", "line 1: project: has control characters"},
      {"\nprojct = \"a\"\n", "line 2: projct: unknown key (did you mean \"project\"?)"},
      {"zzzzzzzzzz = 1\n", "line 1: zzzzzzzzzz: unknown key"},
      {"[rule.\"gpu.idle\"]\nmax = \"5%\"\n", "line 1: rule: unknown key (did you mean \"rules\"?)"},
      {"trace = 3\n", "line 1: trace: must be a table, not an integer"},
      {"[trace]\nstep = \"x\"\n", "line 2: trace.step: unknown key (did you mean \"steps\"?)"},
      {"[trace]\nsteps = \"\"\n", "line 2: trace.steps: must not be empty"},
      {"[trace]\nskip_steps = -1\n", "line 2: trace.skip_steps: -1 is not from 0 to 1000000"},
      {"[trace]\nskip_steps = 1.5\n", "line 2: trace.skip_steps: must be an integer, not a number"},
      {"[trace]\nwindow = \"stepz\"\n", "line 2: trace.window: "},
      {"[trace]\nwindow = \"9:3\"\n", "line 2: trace.window: "},
      {"[baseline]\nbranch = true\n", "line 2: baseline.branch: must be a string, not a boolean"},
      {"[baseline]\nruns = 0\n", "line 2: baseline.runs: 0 is not from 1 to 100"},
      {"[baseline]\nruns = 101\n", "line 2: baseline.runs: 101 is not from 1 to 100"},
      {"[baseline]\nmin_runs = 40\n",
       "line 2: baseline.min_runs: 40 is more than runs (30), so nothing is ever judged"},
      {"[baseline]\nmin_runs = 8\nruns = 7\n", "line 2: baseline.min_runs: 8 is more than runs (7)"},
      {"[environment]\nmatch = \"gpu\"\n", "line 2: environment.match: must be an array of names, not a string"},
      {"[environment]\nmatch = [\"gpu\", 3]\n", "line 2: environment.match: must be a string, not an integer"},
      {"[environment]\nmatch = [\"gpu\",\n \"gpu\"]\n", "line 3: environment.match: \"gpu\" is named twice"},
      {"[environment]\nmatch = [\"gpus\"]\n",
       "line 2: environment.match: \"gpus\" is no fact of a run (did you mean \"gpu\"?)"},
      {"[environment]\nmatch = [\"GPU\"]\n",
       "line 2: environment.match: \"GPU\" is no fact of a run (did you mean \"gpu\"?)"},
      {"[environment]\nmatch = [\"node\",\n \"world-size\"]\n",
       "line 3: environment.match: \"world-size\" is no fact of a run (did you mean \"world_size\"?)"},
      {"[environment]\nmatch = [\"frmework\"]\n",
       "line 2: environment.match: \"frmework\" is no fact of a run (did you mean \"framework\"?)"},
      {"[environment]\nmatch = [\"a b\"]\n", "line 2: environment.match: \"a b\" is no name"},
      {"[cost]\ngpu_hour = \"2\"\n", "line 2: cost.gpu_hour: must be a number, not a string"},
      {"[cost]\ngpu_hour = -1\n", "line 2: cost.gpu_hour: must not be below 0"},
      {"[cost]\ngpu_hour = nan\n", "line 2: cost.gpu_hour: must be a finite number"},
      {"[baseline]\npinned = 4\n", "line 2: baseline.pinned: must be a string, not an integer"},
      {"[baseline]\nepoch = 4\n", "line 2: baseline.epoch: must be a string, not an integer"},
      {"[findings.stragler]\n", "line 1: findings.stragler: unknown finding (did you mean \"straggler\"?)"},
      {"[findings.straggler]\nlevel = \"error\"\n",
       "line 2: findings.straggler.level: \"error\" is none of fail, warn, info"},
      {"[findings.straggler]\nmax = 3\n", "line 2: findings.straggler.max: unknown key"},
      {"findings = []\n", "line 1: findings: must be a table, not an array"},
      {"rules = 1\n", "line 1: rules: must be a table, not an integer"},
      {"[rules]\n\"gpu.idle\" = \"5%\"\n", "line 2: rules.\"gpu.idle\": must be a table, not a string"},
  };
  for (const Mistake& row : rows) check(row, ErrorCode::bad_policy);
}

// Why: a rule that cannot break is a gate that is off; one that cannot hold is a gate that will be taken off.
TEST_CASE("policy errors: rules") {
  const Mistake rows[] = {
      {"[rules.\"gpu.utilisation\"]\nmin = \"85%\"\n",
       "line 1: rules.\"gpu.utilisation\": unknown metric (did you mean \"gpu.utilization\"?)"},
      {"[rules.\"x*y\"]\nmin = \"85%\"\n", "line 1: rules.\"x*y\": matches no metric"},
      {"\n[rules.\"gpu.utilization\"]\n\nmin = \"85 ms\"\n",
       "line 4: rules.\"gpu.utilization\".min: \"85 ms\" has the wrong unit: a number with a unit of % is wanted"},
      {"[rules.\"gpu.utilization\"]\nmin = 0.85\n", "line 2: rules.\"gpu.utilization\".min: \"0.85\" lacks its unit"},
      {"[rules.\"gpu.utilization\"]\nmin = true\n", "line 2: rules.\"gpu.utilization\".min: must be a string"},
      {"[rules.\"gpu.utilization\"]\nmin = \"101%\"\n",
       "line 2: rules.\"gpu.utilization\".min: gpu.utilization is never above 100 %, so it always fails"},
      {"[rules.\"gpu.utilization\"]\nmin = \"0%\"\n",
       "line 2: rules.\"gpu.utilization\".min: gpu.utilization is never below 0, so it never fails"},
      {"[rules.\"gpu.idle\"]\nmax = \"100%\"\n",
       "line 2: rules.\"gpu.idle\".max: gpu.idle is never above 100 %, so it never fails"},
      {"[rules.\"step.time_p50\"]\nmin = \"2 s\"\nmax = \"1 s\"\n",
       "line 3: rules.\"step.time_p50\".max: min (2 s) is above max (1 s), so it always fails"},
      {"[rules.\"gpu.utilization\"]\nworse_by = \"100%\"\n",
       "line 2: rules.\"gpu.utilization\".worse_by: gpu.utilization cannot fall by 100%, so it never fails"},
      {"[rules.\"allreduce.busbw\"]\nworse_by = \"120%\"\n",
       "line 2: rules.\"allreduce.busbw\".worse_by: allreduce.busbw cannot fall by 120%"},
      {"[rules.\"gpu.idle\"]\nworse_by = \"100pp\"\n",
       "line 2: rules.\"gpu.idle\".worse_by: gpu.idle cannot rise by 100pp"},
      {"[rules.\"gpu.idle\"]\nat_least = \"100pp\"\n",
       "line 2: rules.\"gpu.idle\".at_least: gpu.idle cannot change by 100pp"},
      {"[rules.\"allreduce.time_mean\"]\nworse_by = \"3pp\"\n",
       "line 2: rules.\"allreduce.time_mean\".worse_by: \"3pp\" is not a percentage"},
      {"[rules.\"allreduce.time_mean\"]\nworse_by = 0.1\n",
       "line 2: rules.\"allreduce.time_mean\".worse_by: \"0.1\" is not a percentage"},
      {"[rules.\"allreduce.time_mean\"]\nworse_by = \"10%\"\nat_least = \"1%\"\n",
       "line 3: rules.\"allreduce.time_mean\".at_least: \"1%\" has the wrong unit"},
      {"[rules.\"allreduce.count\"]\nworse_by = \"10%\"\n",
       "line 2: rules.\"allreduce.count\".worse_by: allreduce.count has no better side: add direction"},
      {"[rules.\"allreduce.count\"]\nmax = \"12 ms\"\n",
       "line 2: rules.\"allreduce.count\".max: \"12 ms\" has the wrong unit"},
      {"[rules.\"allreduce.count\"]\nmax = -3\n",
       "line 2: rules.\"allreduce.count\".max: \"-3\" is not a plain number"},
      {"[rules.\"allreduce.count\"]\nmax = inf\n", "line 2: rules.\"allreduce.count\".max: must be a finite number"},
      {"[rules.\"gpu.idle\"]\nworse_by = \"3pp\"\ndirection = \"higher\"\n",
       "line 3: rules.\"gpu.idle\".direction: of gpu.idle lower is the better side"},
      {"[rules.\"gpu.idle\"]\nworse_by = \"3pp\"\ndirection = \"up\"\n",
       "line 3: rules.\"gpu.idle\".direction: \"up\" is none of lower, higher"},
      {"[rules.\"gpu.idle\"]\n", "line 1: rules.\"gpu.idle\": has no condition: write min, max, worse_by or at_least"},
      {"[rules.\"gpu.idle\"]\nlevel = \"warn\"\n", "line 1: rules.\"gpu.idle\": has no condition"},
      {"[rules.\"gpu.idle\"]\nmax = \"5%\"\nlevel = \"wrn\"\n",
       "line 3: rules.\"gpu.idle\".level: \"wrn\" is none of fail, warn, info (did you mean \"warn\"?)"},
      {"[rules.\"gpu.idle\"]\nmax = \"5%\"\nconfirm = 0\n", "line 3: rules.\"gpu.idle\".confirm: 0 is not from 1 to 5"},
      {"[rules.\"gpu.idle\"]\nmax = \"5%\"\nconfirm = 1.5\n", "line 3: rules.\"gpu.idle\".confirm: must be an integer"},
      {"[rules.\"gpu.idle\"]\nmax = \"5%\"\nlevel = \"info\"\nconfirm = 2\n",
       "line 4: rules.\"gpu.idle\".confirm: has no effect with level = \"info\""},
      {"[rules.\"gpu.idle\"]\nmax = \"5%\"\nnoise = \"none\"\n",
       "line 3: rules.\"gpu.idle\".noise: has no effect without worse_by or at_least"},
      {"[rules.\"gpu.idle\"]\nmax = \"5%\"\nsigmas = 4\n", "line 3: rules.\"gpu.idle\".sigmas: has no effect without"},
      {"[rules.\"gpu.idle\"]\nmax = \"5%\"\ndirection = \"lower\"\n",
       "line 3: rules.\"gpu.idle\".direction: has no effect without"},
      {"[rules.\"gpu.idle\"]\nworse_by = \"3pp\"\nnoise = \"auto2\"\n",
       "line 3: rules.\"gpu.idle\".noise: \"auto2\" is none of auto, mad, t, none"},
      {"[rules.\"gpu.idle\"]\nworse_by = \"3pp\"\nnoise = \"none\"\nsigmas = 4\n",
       "line 4: rules.\"gpu.idle\".sigmas: has no effect with noise = \"none\""},
      {"[rules.\"gpu.idle\"]\nworse_by = \"3pp\"\nsigmas = 0\n",
       "line 3: rules.\"gpu.idle\".sigmas: 0 is not above 0 and at most 10"},
      {"[rules.\"gpu.idle\"]\nworse_by = \"3pp\"\nsigmas = inf\n",
       "line 3: rules.\"gpu.idle\".sigmas: must be a finite number"},
      {"[rules.\"gpu.idle\"]\nworse_by = \"3pp\"\nsigma = 3\n",
       "line 3: rules.\"gpu.idle\".sigma: unknown key (did you mean \"sigmas\"?)"},
      {"[rules.\"gpu.*\"]\nmax = \"5 ms\"\n", "line 2: rules.\"gpu.*\".max: \"5 ms\" has the wrong unit"},
      {"[rules.\"allreduce.*\"]\nmax = \"5 ms\"\n",
       "line 2: rules.\"allreduce.*\".max: \"allreduce.*\" matches metrics of different units"},
      {"[rules.\"allreduce.*\"]\nworse_by = \"5%\"\n",
       "line 2: rules.\"allreduce.*\".worse_by: allreduce.time_total has no better side"},
      {"[rules.\"*\"]\nworse_by = \"3pp\"\n", "line 2: rules.\"*\".worse_by: \"3pp\" is not a percentage"},
  };
  for (const Mistake& row : rows) check(row, ErrorCode::bad_policy);
}

TEST_CASE("policy errors: pinned, epoch and cost") {
  const Mistake rows[] = {
      {"[baseline]\npinned = \"\"\n", "line 2: baseline.pinned: "},
      {"[baseline]\npinned = 14\n", "line 2: baseline.pinned: must be a string"},
      {"[baseline]\nepoch = \"yesterday\"\n", "line 2: baseline.epoch: \"yesterday\" is no date like 2026-11-01"},
      {"[baseline]\nepoch = \"2026-02-30\"\n", "line 2: baseline.epoch: \"2026-02-30\" is no date"},
      {"[baseline]\nepoch = \"2026-11-01T25:00:00Z\"\n", "line 2: baseline.epoch: \"2026-11-01T25:00:00Z\" is no date"},
      {"[baseline]\nepoch = 12:00:00\n", "line 2: baseline.epoch: \"12:00:00\" is no date"},
      {"[baseline]\nepoch = 2026\n", "line 2: baseline.epoch: must be a string"},
      {"[cost]\ngpu_hour = -1\n", "line 2: cost.gpu_hour: must not be below 0"},
      {"[cost]\ngpu_hour = \"2\"\n", "line 2: cost.gpu_hour: must be a number"},
  };
  for (const Mistake& row : rows) check(row, ErrorCode::bad_policy);
}

// Why: a policy comes with an upload, so from anybody; the TOML library recurses and must not be led to the stack's
// end.
TEST_CASE("policy errors: texts that are no policies at all") {
  std::string many_dots = "a", many_tables, many_brackets = "x = ", many_lines = "x = ";
  for (int i = 0; i < 30000; ++i) many_dots += ".a";
  for (int i = 0; i < 60000; ++i) many_brackets += '[';
  for (int i = 0; i < 20000; ++i) many_lines += "[\n";
  for (int i = 0; i < 3000; ++i) many_tables += "[a" + std::to_string(i) + "]\n";
  struct Text {
    const char* name;
    std::string toml;
    const char* want;
  };
  const Text rows[] = {
      {"no TOML", "version = = 1\n", "line 1: "},
      {"an open string", "a = 1\nproject = \"x\n", "line 2: "},
      {"a key twice", "version = 1\nversion = 1\n", "line 2: "},
      {"not UTF-8", "project = \"\xff\"\n", "the policy is not valid UTF-8"},
      {"a string of several lines", "project = \"\"\"\nx\"\"\"\n",
       "line 1: a policy has no use for strings of several"},
      {"too many rules", many_rules("custom.m", "", policy_rules_max + 1), "line 1001: rules: has more than 500 rules"},
      {"too many patterns", many_rules("phase.p", "*.share", policy_patterns_max + 1),
       "line 101: rules: has more than 50 rules with patterns"},
      {"too large", std::string(policy_bytes_max + 1, '\n'), "the policy has 65537 bytes, more than 65536"},
      {"a key of many dots", many_dots + " = 1\n", "line 1: too many dots for a key"},
      {"a header of many dots", "[" + many_dots + "]\n", "line 1: too many dots for a key"},
      {"many brackets", many_brackets, "line 1: nested too deeply for a policy"},
      {"many brackets on many lines", many_lines, "line 9: nested too deeply for a policy"},
      {"brackets closed in a string only", "x = [\"]]]]]]]]]\", [[[[[[[[[", "line 1: nested too deeply for a policy"},
      {"many tables", many_tables, "line 1: a0: unknown key"},
      {"an escaped quote", "project = \"a\\\"\" \n[[[[[[[[[", "line 2: nested too deeply for a policy"},
  };
  for (const Text& row : rows) {
    CAPTURE(row.name);
    const Result<Policy> policy = parse_policy(row.toml);
    REQUIRE_FALSE(policy.has_value());
    CHECK(policy.error().code == ErrorCode::bad_policy);
    CHECK_MESSAGE(policy.error().message.starts_with(row.want), policy.error().message);
    CHECK(policy.error().message.size() < 512);
  }
  CHECK(parse_policy("# .......................................................................... [[[[[[[[[[\n"));
}

TEST_CASE("policy errors: a key that is noise in the terminal is spelt out") {
  const Result<Policy> policy = parse_policy("\"\\u001b[31m\" = 1\n");
  REQUIRE_FALSE(policy.has_value());
  CHECK(policy.error().message == "line 1: \"\\x1b[31m\": unknown key");
}
