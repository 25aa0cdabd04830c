// For: over which span a rank is measured. Source: spec of metrics, section 2.
// Not for: what happens in it.
#pragma once

#include <vector>

#include "analyzer/metrics/measure.hpp"
#include "analyzer/metrics/rank_view.hpp"

namespace traceweir::metrics {

/// A steps window needs this many kept steps, and this many of them with GPU work.
inline constexpr std::size_t window_steps_min = 3;
inline constexpr std::size_t window_working_steps_min = 2;

/// How many steps at the front are left out: what the caller says, else 1 where more than 3 are marked, else 0.
/// Errors: usage (a negative number).
Result<std::int64_t> skipped_steps(std::size_t marked, const MeasureOptions& options);

/// From the first start to the last end of the rank's GPU work.   Shape: the timeline has work; never empty.
Interval span_of_work(const timeline::Timeline& timeline);

/// The window that the options ask for, else the rule of the spec.
/// Shape:  `steps` with `kept` and `first_work` set; `work` is span_of_work.
/// Errors: usage, naming why this trace has no such window.
Result<Window> window_of(const std::vector<Step>& steps, Interval work, const MeasureOptions& options);

}  // namespace traceweir::metrics
