#include "gate/diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gate/cost.hpp"
#include "gate/explain.hpp"
#include "gate/run_facts.hpp"
#include "gate/units.hpp"
#include "gate/workload_identity.hpp"

namespace traceweir::gate {
namespace {

/// A step that changed by less is not what a reader looks for, if something else changed much.
constexpr double step_change_min = 0.005;
constexpr double other_change_min = 0.05;

double change_of(const Explanation& explanation) {
  if (explanation.unit == Unit::ratio) return std::abs(explanation.delta);
  const double largest = std::max(std::abs(explanation.base), std::abs(explanation.head));
  return largest > 0 ? std::abs(explanation.delta) / largest : 0;
}

/// What a reader wants to know first: how long a step takes; else what changed most.
const Explanation* headline(const std::vector<Explanation>& explanations) {
  if (explanations.empty()) return nullptr;
  const Explanation& first = explanations.front();
  if (change_of(first) >= step_change_min) return &first;
  const auto largest = std::max_element(explanations.begin(), explanations.end(),
                                        [](const auto& a, const auto& b) { return change_of(a) < change_of(b); });
  return change_of(*largest) >= other_change_min ? &*largest : &first;
}

std::string summary_of(const Diff& diff) {
  const Explanation* first = headline(diff.explanations);
  if (first != nullptr) return first->sentence;
  return diff.metrics.empty() ? "The runs have no metric in common."
                              : "None of the metrics that both runs have can be explained.";
}

std::vector<MetricChange> metric_changes(const RunSide& base, const RunSide& head) {
  std::vector<MetricChange> changes;
  for (const metrics::RunMeasurement& row : base.report().measurements) {
    const metrics::Measurement before = metrics::in_base_unit(row.mean);
    const metrics::RunMeasurement* other = head.measurement(row.mean.metric);
    if (other == nullptr || !before.value || !other->mean.value) continue;
    const metrics::Measurement after = metrics::in_base_unit(other->mean);
    if (after.unit == before.unit)
      changes.push_back({before.metric, before.unit, as_double(*before.value), as_double(*after.value)});
  }
  return changes;
}

}  // namespace

Diff diff_of(const report::Report& base, const report::Report& head, std::optional<double> gpu_hour) {
  const Explainer explainer(base, head);
  Diff diff;
  diff.environment = environment_changes(base, head);
  diff.metrics = metric_changes(explainer.base(), explainer.head());
  for (const std::string& metric : compared_metrics())
    if (auto explanation = explainer.explain(metric)) diff.explanations.push_back(*std::move(explanation));
  diff.facts = facts_of(explainer.base(), explainer.head());
  diff.workload_changed = workload_change(explainer.base(), explainer.head());
  if (gpu_hour) diff.cost = cost_of(explainer.head(), *gpu_hour, waiting_share(explainer.base()));
  diff.summary = summary_of(diff);
  return diff;
}

}  // namespace traceweir::gate
