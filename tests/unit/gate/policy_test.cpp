#include "gate/policy.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gate/policy_keys.hpp"
#include "tests/unit/gate/cases.hpp"

using namespace traceweir;
using namespace traceweir::gate;
using cases::policy_of;

namespace {

constexpr const char* whole_grammar = R"(
version  = 1
project  = "llama"
workload = "ddp-8gpu"
[trace]
steps      = "train_step*"
skip_steps = 2
window     = "steps"
[baseline]
branch   = "trunk"
runs     = 40
min_runs = 6
pinned   = "v1.4"
epoch    = 2026-11-01
[cost]
gpu_hour = 2.5
[environment]
match = ["gpu", "driver", "node"]
[rules."allreduce.time_mean"]
max        = "50 ms"
worse_by   = "10%"
at_least   = "0.2 ms"
[rules."gpu.utilization"]
min        = "85%"
worse_by   = "3pp"
level      = "warn"
confirm    = 2
noise      = "mad"
sigmas     = 2.5
[rules."allreduce.count"]
max        = 12
worse_by   = "5%"
direction  = "lower"
[findings.straggler]
level = "warn"
[findings.input_bound]
)";

}  // namespace

// Why: this is the file of the documentation, with every key that has its function today.
TEST_CASE("policy: every key of the grammar outside of rules") {
  const Policy policy = policy_of(whole_grammar);
  CHECK(policy.project == "llama");
  CHECK(policy.workload == "ddp-8gpu");
  CHECK(policy.trace.steps == "train_step*");
  CHECK(policy.trace.skip_steps == 2);
  CHECK(policy.trace.window == "steps");
  CHECK(policy.baseline.branch == "trunk");
  CHECK(policy.baseline.runs == 40);
  CHECK(policy.baseline.min_runs == 6);
  CHECK(policy.baseline.pinned == "v1.4");
  CHECK(policy.baseline.epoch == "2026-11-01");
  CHECK(policy_of("[baseline]\nepoch = \"2026-11-01T06:30:00Z\"\n").baseline.epoch == "2026-11-01T06:30:00Z");
  CHECK(policy_of("[baseline]\nepoch = 2026-11-01T06:30:00Z\n").baseline.epoch == "2026-11-01T06:30:00Z");
  CHECK(policy.gpu_hour == 2.5);
  CHECK(policy.environment_match == std::vector<std::string>{"gpu", "driver", "node"});
  REQUIRE(policy.findings.size() == 2);
  CHECK(policy.findings[0].code == FindingCode::straggler);
  CHECK(policy.findings[0].level == Level::warn);
  CHECK(policy.findings[1].level == Level::fail);
}

TEST_CASE("policy: every key of a rule") {
  const Policy policy = policy_of(whole_grammar);
  REQUIRE(policy.rules.size() == 3);
  const Rule& allreduce = policy.rules[0];
  CHECK(allreduce.metric == "allreduce.time_mean");
  CHECK(allreduce.max->value == 50e6);
  CHECK(allreduce.worse_by->value == 0.1);
  CHECK(allreduce.at_least->value == 200e3);
  CHECK(allreduce.level == Level::fail);
  CHECK(allreduce.confirm == 1);
  CHECK(allreduce.noise == Noise::automatic);
  CHECK(allreduce.sigmas == 3);
  CHECK(allreduce.explicit_metric);
  const Rule& utilization = policy.rules[1];
  CHECK(utilization.min->value == 0.85);
  CHECK(utilization.worse_by->kind == Tolerance::Kind::points);
  CHECK(utilization.level == Level::warn);
  CHECK(utilization.confirm == 2);
  CHECK(utilization.noise == Noise::mad);
  CHECK(utilization.sigmas == 2.5);
  CHECK(policy.rules[2].direction == Better::lower);
  CHECK(policy.rules[2].max->value == 12);
}

// Why: what a project gets that wrote nothing. Source: the gate's specification, section 2.
TEST_CASE("policy: the built-in rules") {
  struct Row {
    const char* metric;
    const char* worse_by;
    const char* at_least;
  };
  const Row rows[] = {{"gpu.utilization", "3pp", ""},
                      {"gpu.idle", "3pp", ""},
                      {"allreduce.time_mean", "10%", "0.1 ms"},
                      {"comm.exposed_per_step", "10%", "0.1 ms"},
                      {"step.time_p50", "5%", ""}};
  const Policy& policy = built_in_policy();
  REQUIRE(policy.rules.size() == std::size(rows));
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    CHECK(policy.rules[i].metric == rows[i].metric);
    CHECK(policy.rules[i].worse_by->text == rows[i].worse_by);
    CHECK((policy.rules[i].at_least ? policy.rules[i].at_least->text : "") == rows[i].at_least);
    CHECK_FALSE(policy.rules[i].explicit_metric);
  }
  CHECK(policy.baseline.runs == 30);
  CHECK(policy.baseline.min_runs == 5);
  CHECK(policy.environment_match == std::vector<std::string>{"gpu", "gpu_count", "world_size"});
  CHECK(parse_policy(policy.text).has_value());
}

// Why: a file that only names the branch must not switch the gate off.
TEST_CASE("policy: without a rules table the built-in rules stay, with an empty one there are none") {
  CHECK(policy_of("").rules.size() == built_in_policy().rules.size());
  CHECK(policy_of("[baseline]\nbranch = \"trunk\"\n").rules.size() == built_in_policy().rules.size());
  CHECK_FALSE(policy_of("").rules.front().explicit_metric);
  CHECK(policy_of("[rules]\n").rules.empty());
}

TEST_CASE("policy: fewer runs than the default minimum are all wanted") {
  CHECK(policy_of("[baseline]\nruns = 3\n").baseline.min_runs == 3);
}

TEST_CASE("policy: rules count in the order of the file, however they are written") {
  const Policy policy = policy_of(R"(
[rules]
"step.time_p50" = {worse_by = "5%"}
"gpu.idle".worse_by = "3pp"
"gpu.idle".level = "warn"
[rules."allreduce.busbw"]
worse_by = "10%"
)");
  REQUIRE(policy.rules.size() == 3);
  CHECK(policy.rules[0].metric == "step.time_p50");
  CHECK(policy.rules[1].metric == "gpu.idle");
  CHECK(policy.rules[1].level == Level::warn);
  CHECK(policy.rules[2].metric == "allreduce.busbw");
}

// Why: a pattern is a convenience, what is written out is meant.
TEST_CASE("policy: an exact rule wins over a pattern, an earlier pattern over a later one") {
  const std::vector<Rule> rules = rules_for(policy_of(R"(
[rules."*.time_mean"]
worse_by = "10%"
[rules."allreduce.time_m*"]
worse_by = "20%"
[rules."broadcast.time_mean"]
worse_by = "30%"
)"));
  const auto worse_by = [&](const std::string& metric) -> std::string {
    std::string found;
    int count = 0;
    for (const Rule& rule : rules)
      if (rule.metric == metric) found = rule.worse_by->text, ++count;
    CHECK(count <= 1);
    return found;
  };
  CHECK(worse_by("allreduce.time_mean") == "10%");
  CHECK(worse_by("allreduce.time_max") == "20%");
  CHECK(worse_by("broadcast.time_mean") == "30%");
  CHECK(worse_by("step.time_mean") == "10%");
  CHECK(worse_by("gpu.idle").empty());
  for (const Rule& rule : rules) CHECK(rule.explicit_metric == (rule.metric == "broadcast.time_mean"));
}

TEST_CASE("policy: phases are named by the trace, so a pattern meets them in what was measured") {
  const Policy policy = policy_of("[rules.\"phase.*.share\"]\nworse_by = \"5pp\"\n");
  CHECK(rules_for(policy).empty());
  const std::vector<std::string> measured{"gpu.idle", "phase.forward.share"};
  const std::vector<Rule> rules = rules_for(policy, measured);
  REQUIRE(rules.size() == 1);
  CHECK(rules[0].metric == "phase.forward.share");
  CHECK(policy_of("[rules.\"gpu_metrics.sm_active_percent\"]\nmin = 40\n").rules[0].explicit_metric);
  CHECK(policy_of("[rules.\"phase.forward.share\"]\nmax = \"60%\"\n").rules[0].explicit_metric);
}

namespace {

/// The keys of a table of the schema, as the parser lists its own.
void list_keys(const nlohmann::json& schema, const nlohmann::json& node, const std::string& prefix,
               std::vector<std::string>& out) {
  for (const auto& [key, value] : node.at("properties").items()) {
    const bool refers = value.contains("$ref");
    const nlohmann::json& target =
        refers ? schema.at(nlohmann::json::json_pointer(value["$ref"].get<std::string>().substr(1))) : value;
    if (target.value("type", nlohmann::json()) != "object") {
      out.push_back(prefix + key);
      continue;
    }
    if (prefix.empty()) out.push_back(key);
    const bool by_name = target.contains("additionalProperties") && target["additionalProperties"].is_object();
    if (!by_name) {
      list_keys(schema, target, prefix + key + ".", out);
      continue;
    }
    const std::string inner = target["additionalProperties"]["$ref"].get<std::string>().substr(1);
    list_keys(schema, schema.at(nlohmann::json::json_pointer(inner)), prefix + key + ".*.", out);
  }
}

}  // namespace

// Why: editors complete and check policies by the schema; it must know what the parser knows, and nothing else.
TEST_CASE("policy: the JSON schema has the parser's keys") {
  std::ifstream in("schema/policy.schema.json");
  REQUIRE(in.good());
  const nlohmann::json schema = nlohmann::json::parse(in);
  std::vector<std::string> keys;
  list_keys(schema, schema, "", keys);
  std::sort(keys.begin(), keys.end());
  CHECK(keys == policy_keys());
  // An unknown key is an error of the schema too.
  CHECK(schema["additionalProperties"] == false);
  for (const auto& [name, definition] : schema["$defs"].items())
    if (definition.value("type", nlohmann::json()) == "object") CHECK(definition["additionalProperties"] == false);
}
