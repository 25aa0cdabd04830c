#include "gate/policy.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "analyzer/core/assert.hpp"
#include "analyzer/core/words.hpp"
#include "gate/metric_facts.hpp"

namespace traceweir::gate {
namespace {

constexpr Word<Level> level_words[] = {{Level::fail, "fail"}, {Level::warn, "warn"}, {Level::info, "info"}};

constexpr Word<Noise> noise_words[] = {
    {Noise::automatic, "auto"}, {Noise::mad, "mad"}, {Noise::t, "t"}, {Noise::none, "none"}};

constexpr std::string_view built_in_text = R"(version = 1

[rules."gpu.utilization"]
worse_by = "3pp"

[rules."gpu.idle"]
worse_by = "3pp"

[rules."allreduce.time_mean"]
worse_by = "10%"
at_least = "0.1 ms"

[rules."comm.exposed_per_step"]
worse_by = "10%"
at_least = "0.1 ms"

[rules."step.time_p50"]
worse_by = "5%"
)";

/// The built-in text goes through the same parser as everybody's; that it parses is a promise of ours.
Policy parse_built_in() {
  Result<Policy> policy = parse_policy(built_in_text);
  TRACEWEIR_ASSERT(policy.has_value());
  for (Rule& rule : policy->rules) rule.explicit_metric = false;
  return std::move(*policy);
}

}  // namespace

std::string_view word(Level level) { return word_of(level_words, level); }
std::optional<Level> level_of(std::string_view text) { return value_of(level_words, text); }
std::string_view word(Noise noise) { return word_of(noise_words, noise); }
std::optional<Noise> noise_of(std::string_view text) { return value_of(noise_words, text); }

const Policy& built_in_policy() {
  static const Policy policy = parse_built_in();
  return policy;
}

std::vector<Rule> rules_for(const Policy& policy) { return rules_for(policy, {}); }

std::vector<Rule> rules_for(const Policy& policy, std::span<const std::string> measured) {
  std::vector<Rule> rules;
  std::set<std::string, std::less<>> taken;
  for (const Rule& rule : policy.rules) taken.insert(rule.metric);
  const auto expand = [&](const Rule& pattern, const std::string& id) {
    if (!matches(pattern.metric, id) || !taken.insert(id).second) return;
    rules.push_back(pattern);
    rules.back().metric = id;
  };
  for (const Rule& rule : policy.rules) {
    if (!is_pattern(rule.metric)) {
      rules.push_back(rule);
      continue;
    }
    for (const MetricInfo& info : metrics_matching(rule.metric))
      if (!is_pattern(info.id)) expand(rule, info.id);
    // A family named by the trace has its members in what was measured, not in the catalogue.
    for (const std::string& id : measured)
      if (metric_info(id)) expand(rule, id);
  }
  return rules;
}

}  // namespace traceweir::gate
