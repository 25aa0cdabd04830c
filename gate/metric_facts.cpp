#include "gate/metric_facts.hpp"

#include <algorithm>

#include "analyzer/report/report.hpp"

namespace traceweir::gate {
namespace {

/// Members of the families that a trace names begin like this.
constexpr std::string_view phase_prefix = "phase.", counter_prefix = "gpu_metrics.";

/// Ratios that are no shares of one whole: they divide a spread by a mean, or add up over threads.
constexpr std::string_view unbounded_ratios[] = {"step.time_cv", "rank.compute_skew", "rank.step_skew", "sync.share"};

/// Unit and better side come with the values: the judge takes them from the run.
MetricInfo custom_info(std::string_view id) {
  return {std::string(id), Unit::count, Better::none, "measured by the job itself"};
}

}  // namespace

std::optional<MetricInfo> metric_info(std::string_view id) {
  if (const MetricInfo* row = report::find_metric(id)) return *row;
  if (is_custom(id)) return custom_info(id);
  return report::family_member(id);
}

bool is_share(const MetricInfo& info) {
  const bool unbounded =
      std::find(std::begin(unbounded_ratios), std::end(unbounded_ratios), info.id) != std::end(unbounded_ratios);
  return info.unit == Unit::ratio && !unbounded && !info.id.starts_with(phase_prefix);
}

bool is_pattern(std::string_view metric) { return metric.find('*') != std::string_view::npos; }

bool matches(std::string_view pattern, std::string_view id) {
  // Greedy with one way back: the last `*` takes one character more whenever the rest does not fit.
  std::size_t p = 0, i = 0, star = std::string_view::npos, taken = 0;
  while (i < id.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = i;
    } else if (p < pattern.size() && pattern[p] == id[i]) {
      ++p, ++i;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      i = ++taken;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::vector<MetricInfo> metrics_matching(std::string_view pattern) {
  std::vector<MetricInfo> found;
  for (const MetricInfo& row : report::catalog())
    if (matches(pattern, row.id)) found.push_back(row);
  const bool names_a_family = pattern.starts_with(phase_prefix) || pattern.starts_with(counter_prefix);
  if (found.empty() && names_a_family)
    if (auto member = report::family_member(pattern)) found.push_back(*std::move(member));
  if (found.empty() && is_custom(pattern)) found.push_back(custom_info(pattern));
  return found;
}

}  // namespace traceweir::gate
