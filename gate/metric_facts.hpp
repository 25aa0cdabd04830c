// For: what the gate must know of a metric beyond its catalogue row, and patterns over metric ids.
// Not for: measuring (analyzer/metrics).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/metric.hpp"

namespace traceweir::gate {

/// The row of a metric of the catalogue, or of a family whose members are named by the trace (`phase.NAME.share`,
/// `gpu_metrics.NAME`) or by the job (`custom.NAME`; unit and better side are then those of the run, not of this row).
std::optional<MetricInfo> metric_info(std::string_view id);

/// Whether the metric is a share of a whole, so that no value is above 1.
bool is_share(const MetricInfo& info);

/// Whether `pattern` has a `*`.
bool is_pattern(std::string_view metric);

/// Whether `id` matches: `*` stands for any characters, dots too. Cost: O(pattern · id).
bool matches(std::string_view pattern, std::string_view id);

/// The catalogue's metrics that match, in its order; where none does but the pattern can match a family named by the
/// trace, one member that stands for it.
std::vector<MetricInfo> metrics_matching(std::string_view pattern);

}  // namespace traceweir::gate
