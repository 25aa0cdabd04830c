// For: the metrics that sums of durations can give (timeline/sums.hpp). Everything that needs to know when something
// ran has no value there. Not for: spans.
#pragma once

#include "analyzer/metrics/measure.hpp"
#include "analyzer/metrics/metric_table.hpp"
#include "analyzer/metrics/value.hpp"
#include "analyzer/timeline/sums.hpp"

namespace traceweir::metrics {

/// The value of a metric of one rank from sums: exactly the value that the spans would give, or none.
/// Units:  the metric's own.
/// No value: no_such_table (sums cannot tell it, or the table is not there), no_comm, no_copies, no_gpu_work, no_sizes,
///         no_steps.
Value value_from_sums(const timeline::Sums& sums, const Metric& metric);

/// Kernels by total, descending; `share` is of all kernels' time together, for there is no window.
std::vector<KernelRow> kernel_rows_from_sums(const timeline::Sums& sums);

/// Communication kernels by kind; sizes are not known.
std::vector<CollectiveRow> collective_rows_from_sums(const timeline::Sums& sums);

}  // namespace traceweir::metrics
