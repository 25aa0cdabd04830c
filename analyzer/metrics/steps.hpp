// For: which ranges are steps, what was launched in each, and how long steps take.
// Not for: which of them make the window (window.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/metrics/rank_view.hpp"
#include "analyzer/metrics/step_pattern.hpp"
#include "analyzer/metrics/value.hpp"

namespace traceweir::metrics {

/// The marked steps by host begin; of matching ranges nested on one thread only the outer. None is `kept` yet.
/// Cost: O(ranges + names × pattern); with a glob O(ranges × pattern).
std::vector<Step> find_steps(const timeline::Timeline& timeline, const StepPattern& pattern);

/// Per work the step in whose host range its launching call starts, on any thread (of overlapping steps the one that
/// began last), or timeline::none. Cost: O(work + calls + steps).
std::vector<std::uint32_t> steps_of_work(const timeline::Timeline& timeline, const std::vector<Step>& steps);

/// Sets `first_work` of every step.
void find_first_work(const timeline::Timeline& timeline, const std::vector<std::uint32_t>& step_of_work,
                     std::vector<Step>& steps);

/// Leaves out `skip` steps at the front and marks the others as kept.
void keep_steps(std::vector<Step>& steps, std::int64_t skip);

/// Periods from the first GPU work of a kept step to that of the next, where both have some. Units: ns, > 0.
std::vector<std::int64_t> step_periods(const RankView& view);

/// Per-step values of the built-in gated metrics, for kept steps whose period lies in the window; at most
/// step_values_max, evenly chosen.
std::vector<StepValues> step_values(const RankView& view);

/// Window length over its periods.   Units: ns.   No value: no_steps (no `steps` window).
Value step_time_mean(const RankView& view);
/// Quantiles of the periods.   Units: ns.   No value: no_steps (no period).
Value step_time_p50(const RankView& view);
Value step_time_p95(const RankView& view);
/// Deviation of the periods over their mean.   Units: ratio.   No value: no_steps; few_steps (one period).
Value step_time_cv(const RankView& view);

}  // namespace traceweir::metrics
