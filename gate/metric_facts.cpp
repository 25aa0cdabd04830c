#include "gate/metric_facts.hpp"

#include <algorithm>

#include "analyzer/report/report.hpp"

namespace traceweir::gate {
namespace {

constexpr std::string_view phase_prefix = "phase.", phase_suffix = ".share";

/// Ratios that are no shares of one whole: they divide a spread by a mean, or add up over threads.
constexpr std::string_view unbounded_ratios[] = {"step.time_cv", "rank.compute_skew", "rank.step_skew", "sync.share"};

constexpr std::string_view later_prefixes[] = {"gpu_metrics."};

bool is_phase(std::string_view id) {
  return id.size() > phase_prefix.size() + phase_suffix.size() && id.starts_with(phase_prefix) &&
         id.ends_with(phase_suffix);
}

MetricInfo phase_info(std::string_view id) {
  return {std::string(id), Unit::ratio, Better::lower, "host time of the phase inside steps / host time of the steps"};
}

/// Unit and better side come with the values: the judge takes them from the run.
MetricInfo custom_info(std::string_view id) {
  return {std::string(id), Unit::count, Better::none, "measured by the job itself"};
}

}  // namespace

std::optional<MetricInfo> metric_info(std::string_view id) {
  if (const MetricInfo* row = report::find_metric(id)) return *row;
  if (is_phase(id)) return phase_info(id);
  if (is_custom(id)) return custom_info(id);
  return std::nullopt;
}

bool is_later_family(std::string_view id) {
  return std::any_of(std::begin(later_prefixes), std::end(later_prefixes),
                     [&](std::string_view prefix) { return id.size() > prefix.size() && id.starts_with(prefix); });
}

bool is_share(const MetricInfo& info) {
  const bool unbounded =
      std::find(std::begin(unbounded_ratios), std::end(unbounded_ratios), info.id) != std::end(unbounded_ratios);
  return info.unit == Unit::ratio && !unbounded && !is_phase(info.id);
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
  const bool names_a_phase = found.empty() && pattern.starts_with(phase_prefix) && pattern.ends_with(phase_suffix);
  if (names_a_phase) found.push_back(phase_info(pattern));
  if (found.empty() && is_custom(pattern)) found.push_back(custom_info(pattern));
  return found;
}

}  // namespace traceweir::gate
