// For: runs, baselines and policies of tests, in few words.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "gate/judge.hpp"
#include "gate/metric_facts.hpp"
#include "gate/policy.hpp"

namespace traceweir::gate::cases {

inline constexpr const char* utilization = "gpu.utilization";
inline constexpr const char* step = "step.time_p50";
inline const std::string step_5 = "[rules.\"step.time_p50\"]\nworse_by = \"5%\"\n";

inline Policy policy_of(const std::string& toml) {
  Result<Policy> policy = parse_policy(toml);
  REQUIRE_MESSAGE(policy.has_value(), (policy ? std::string() : policy.error().message));
  return std::move(*policy);
}

inline metrics::Measurement measured(const std::string& metric, double value) {
  const MetricInfo info = metric_info(metric).value();
  return {metric, Number(value), info.unit, info.better, std::nullopt};
}

inline metrics::Measurement unmeasured(const std::string& metric, NotMeasured why) {
  const MetricInfo info = metric_info(metric).value();
  return {metric, std::nullopt, info.unit, info.better, why};
}

inline JudgedRun run_of(const std::string& metric, double value) {
  JudgedRun run;
  run.id = "run";
  run.measurements = {measured(metric, value)};
  return run;
}

inline Finding finding_of(FindingCode code, Severity severity) {
  return {code, severity, std::nullopt, 1, {}, "What to do about " + std::string(word(code)) + "."};
}

/// Values newest first, all of the current segment.
inline std::vector<BaselinePoint> series_of(const std::vector<double>& values, std::int64_t segment = 0) {
  std::vector<BaselinePoint> points;
  for (std::size_t i = 0; i < values.size(); ++i)
    points.push_back({"base" + std::to_string(i), "commit" + std::to_string(i), values[i], segment});
  return points;
}

inline Baseline baseline_of(const std::string& metric, const std::vector<double>& values) {
  Baseline baseline;
  baseline.branch = "main";
  baseline.ancestry = "known";
  if (!values.empty()) baseline.series[metric] = series_of(values);
  return baseline;
}

inline Verdict judge_one(const JudgedRun& run, const Baseline& baseline, const Policy& policy) {
  return judge(std::vector{run}, baseline, policy);
}

inline RuleResult only_rule(const Verdict& verdict) {
  REQUIRE(verdict.rules.size() == 1);
  return verdict.rules.front();
}

inline RuleResult rule_of(const std::string& metric, double value, const std::vector<double>& baseline,
                          const std::string& policy) {
  return only_rule(judge_one(run_of(metric, value), baseline_of(metric, baseline), policy_of(policy)));
}

/// `centre` with ± `spread` in turn: n values whose mean is near the centre.
inline std::vector<double> around(double centre, double spread, std::size_t n) {
  std::vector<double> values;
  for (std::size_t i = 0; i < n; ++i) values.push_back(i % 2 == 0 ? centre + spread : centre - spread);
  return values;
}

}  // namespace traceweir::gate::cases
