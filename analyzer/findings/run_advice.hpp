// For: findings about a run of several ranks, which no rank shows alone. Thresholds and their sources stand beside each
// function. Not for: findings about one rank (find.hpp).
#pragma once

#include <span>
#include <vector>

#include "analyzer/core/finding.hpp"
#include "analyzer/metrics/measure.hpp"
#include "analyzer/metrics/ranks.hpp"

namespace traceweir::findings {

/// Shape: in the order of FindingCode, each at most once; none where the run has one rank.
std::vector<Finding> find_in_run(const metrics::RunView& run, std::span<const metrics::RunMeasurement> measurements);

}  // namespace traceweir::findings
