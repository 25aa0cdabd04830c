// Policies: what is accepted can be printed, expanded and judged by, and reads the same again.
#include "gate/policy.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "analyzer/core/assert.hpp"
#include "analyzer/core/text.hpp"
#include "gate/judge.hpp"
#include "gate/metric_facts.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/fuzz/upload_check.hpp"

using namespace traceweir;

namespace {

constexpr const char* measured[] = {"gpu.utilization", "gpu.idle", "step.time_p50", "allreduce.time_mean",
                                    "phase.forward.share"};

gate::JudgedRun run_of(double value) {
  gate::JudgedRun run;
  run.id = "run";
  for (const char* metric : measured) {
    const MetricInfo info = gate::metric_info(metric).value();
    run.measurements.push_back({metric, Number(value), info.unit, info.better, std::nullopt});
  }
  return run;
}

gate::Baseline baseline_of(double value) {
  gate::Baseline baseline;
  for (const char* metric : measured)
    for (int i = 0; i < 6; ++i) baseline.series[metric].push_back({"r" + std::to_string(i), "c", value, 0});
  return baseline;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto policy = gate::parse_policy(fuzz::text_of(bytes, size));
  if (!policy) return fuzz::check_refusal(policy.error()), 0;
  TRACEWEIR_ASSERT(policy->text == fuzz::text_of(bytes, size));
  for (const gate::Rule& rule : gate::rules_for(*policy))
    for (const auto& bound : {rule.min, rule.max, rule.at_least})
      TRACEWEIR_ASSERT(!bound || std::isfinite(bound->value));
  for (const double value : {0.0, 0.5, 1e15}) {
    const std::vector<gate::JudgedRun> runs = {run_of(value)};
    const gate::Verdict verdict = gate::judge(runs, baseline_of(0.25), *policy);
    TRACEWEIR_ASSERT(is_utf8(verdict.summary));
    for (const gate::RuleResult& rule : verdict.rules) TRACEWEIR_ASSERT(is_utf8(rule.sentence) && is_utf8(rule.next));
  }
  return 0;
}
