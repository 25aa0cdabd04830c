#include "server/wire/judge_inputs.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "server/wire/json.hpp"
#include "server/wire/replay_document.hpp"
#include "server/wire/run_document.hpp"
#include "tests/unit/gate/situations.hpp"

using namespace traceweir;
using namespace traceweir::wire;
using namespace traceweir::gate::situations;

namespace {

Result<JudgeInputs> kept(const gate::Policy& policy, const JudgeInputs& inputs) {
  return inputs_from_json(to_json(needed_by(policy, inputs)));
}

Json verdict_json(const JudgeInputs& inputs, const gate::Policy& policy) {
  const VerdictDocument document{gate::judge(inputs.runs, inputs.baseline, policy), "gate", "sent", "hash"};
  return parse_json(to_json(document)).value();
}

JudgeInputs inputs_of(const Row& row) { return {"this build", "0.1.0", 3, row.runs, row.baseline, {"a note"}}; }

/// Things that no rule looks at, as a real run is full of them.
JudgeInputs among_others(JudgeInputs inputs) {
  for (gate::JudgedRun& run : inputs.runs) {
    run.measurements.insert(run.measurements.begin(), measured("gpu.idle", 0.2));
    run.measurements.push_back(unmeasured("allreduce.time_mean", NotMeasured::no_comm));
    run.findings.insert(run.findings.begin(), finding_of(FindingCode::hot_gpu, Severity::info));
  }
  inputs.baseline.series["gpu.idle"] = series_of({1, 2, 3});
  inputs.baseline.runs = {"base0", "base1"};
  return inputs;
}

}  // namespace

// Why: whatever a verdict said, it has to say again from what is kept of it.
TEST_CASE("replay: every situation of the gate is judged the same from what is kept") {
  for (const Table table : tables)
    for (const Row& row : table()) {
      CAPTURE(row.name);
      const gate::Policy policy = policy_of(row.policy);
      const JudgeInputs given = inputs_of(row);
      const auto read = kept(policy, given);
      REQUIRE(read);
      const Json stored = verdict_json(given, policy), now = verdict_json(*read, policy);
      CHECK(stored == now);
      CHECK(differences_of(stored, now, Sameness::to_the_bit).empty());
    }
}

TEST_CASE("replay: what no rule looks at is not kept, and the verdict is the same without it") {
  const gate::Policy policy = policy_of(points + straggler);
  const JudgeInputs given = among_others(inputs_of({"", "", {uses(0.68)}, steady, gate::Reason::worse, fails}));
  const auto read = kept(policy, given);
  REQUIRE(read);
  CHECK(verdict_json(given, policy) == verdict_json(*read, policy));
  CHECK(read->runs.back().measurements.size() == 1);
  CHECK(read->runs.back().findings.empty());
  CHECK(read->baseline.series.size() == 1);
}

TEST_CASE("replay: numbers come back to the bit, those that JSON does not have too") {
  const double infinite = std::numeric_limits<double>::infinity();
  const std::vector<double> odd = {0.1 + 0.2, -0.0,     5e-324,    1.7976931348623157e308, 2.0 / 3,
                                   1e22,      infinite, -infinite, std::nan(""),           123456789012345680.0};
  JudgeInputs given = inputs_of({"", "", {takes(1)}, baseline_of(step, odd), gate::Reason::within, passes});
  given.runs.back().measurements.front().value = Number(std::int64_t{9007199254740993});
  const auto read = kept(policy_of(step_5), given);
  REQUIRE(read);
  const auto& series = read->baseline.series.at(step);
  REQUIRE(series.size() == odd.size());
  for (std::size_t i = 0; i < odd.size(); ++i) {
    CAPTURE(odd[i]);
    CHECK((series[i].value == odd[i] || (std::isnan(odd[i]) && std::isnan(series[i].value))));
    CHECK(std::signbit(series[i].value) == std::signbit(odd[i]));
  }
  CHECK(std::get<std::int64_t>(*read->runs.back().measurements.front().value) == 9007199254740993);
}

TEST_CASE("replay: what the values of the job's own metrics are is kept, and need not be") {
  const gate::Policy policy = policy_of("[rules.\"custom.epoch\"]\nworse_by = \"5%\"\n");
  gate::JudgedRun run;
  run.measurements = {{"custom.epoch", Number(1.0), Unit::ratio, Better::lower, std::nullopt}};
  JudgeInputs given = inputs_of({"", "", {run}, baseline_of("custom.epoch", {1, 1, 1}), gate::Reason::within, passes});
  given.baseline.kinds = {{"custom.epoch", {Unit::ns, Better::higher}}, {"custom.other", {Unit::ratio, Better::none}}};
  const auto read = kept(policy, given);
  REQUIRE(read);
  REQUIRE(read->baseline.kinds.size() == 1);
  CHECK(read->baseline.kinds.at("custom.epoch").unit == Unit::ns);
  CHECK(read->baseline.kinds.at("custom.epoch").better == Better::higher);
  CHECK(verdict_json(*read, policy) == verdict_json(given, policy));
  Json old = parse_json(to_json(needed_by(policy, given))).value();
  old["baseline"].erase("kinds");
  CHECK(inputs_from_json(dump(old)).value().baseline.kinds.empty());
  for (const char* odd :
       {R"({"custom.epoch":["ns","sideways"]})", R"({"custom.epoch":["ns"]})", R"({"custom.epoch":1})", "1", "[]"}) {
    old["baseline"]["kinds"] = parse_json(odd).value();
    CHECK(inputs_from_json(dump(old)).error().code == ErrorCode::bad_body);
  }
}

TEST_CASE("replay: a stored verdict has its document first, and behind it what the judge was given") {
  const std::string stored = stored_verdict(R"({"outcome":"pass"})", R"({"build":"x"})");
  CHECK(document_in(stored) == R"({"outcome":"pass"})");
  CHECK(inputs_in(stored) == R"({"build":"x"})");
  CHECK(document_in(R"({"outcome":"pass"})") == R"({"outcome":"pass"})");
  CHECK(inputs_in(R"({"outcome":"pass"})").empty());
}

// Why: somebody who can write to the database can write anything.
TEST_CASE("replay: whatever stands in the place of what was given is an error, never a crash") {
  const gate::Policy policy = policy_of(points + straggler);
  const Row row{"", "", {torn(uses(0.68))}, pinned(accepted(3), {0.9}), gate::Reason::worse, fails};
  const Json whole = parse_json(to_json(needed_by(policy, inputs_of(row)))).value();
  const Json flat = whole.flatten();
  const Json others[] = {nullptr, true, -1, 18446744073709551615ULL, 0.5, "text", Json::array(), Json::object()};
  for (const auto& [path, value] : flat.items())
    for (const Json& other : others) {
      // Each value, and each list or object above it, in the place of another kind of thing.
      for (Json::json_pointer at(path); !at.empty(); at.pop_back()) {
        Json changed = whole;
        changed[at] = other;
        const auto read = inputs_from_json(dump(changed));
        if (!read) {
          CHECK(read.error().code == ErrorCode::bad_body);
          continue;
        }
        CHECK_FALSE(gate::judge(read->runs, read->baseline, policy).summary.empty());
      }
    }
}

TEST_CASE("replay: a changed verdict is told by name") {
  const gate::Policy policy = policy_of(points);
  const Json now = verdict_json(inputs_of({"", "", {uses(0.68)}, steady, gate::Reason::worse, fails}), policy);
  const auto differences = [&now](const Json& stored, Sameness sameness = Sameness::to_the_bit) {
    return differences_of(stored, now, sameness);
  };
  CHECK(differences(now).empty());

  Json outcome = now;
  outcome["outcome"] = "pass";
  REQUIRE(differences(outcome, Sameness::what_it_says).size() == 1);
  CHECK(differences(outcome).front() == R"(the verdict: outcome is stored as "pass", and judged now as "fail")");

  Json rule = now;
  rule["rules"][0]["reason"] = "within";
  CHECK(differences(rule, Sameness::what_it_says).front() ==
        R"(gpu.utilization: reason is stored as "within", and judged now as "worse")");

  Json level = now;
  level["rules"][0]["baseline"]["level"] = 0.5;
  CHECK(differences(level).size() == 1);
  CHECK(differences(level, Sameness::what_it_says).empty());

  Json none = now;
  none["rules"] = Json::array();
  CHECK(differences(none).front() == "gpu.utilization: the rule is not in the stored verdict");
  Json more = now;
  more["rules"].push_back({{"metric", "gpu.idle"}});
  CHECK(differences(more).front() == "gpu.idle: the policy has no such rule");
  // What others add is theirs.
  Json explained = now;
  explained["explanations"] = Json::array();
  CHECK(differences(explained).empty());
  const Json odd_values[] = {nullptr, "x", Json::array({1})};
  for (const Json& odd : odd_values) {
    Json changed = now;
    changed["rules"] = odd;
    CHECK_FALSE(differences(changed).empty());
    CHECK_FALSE(differences(odd).empty());
  }
}
