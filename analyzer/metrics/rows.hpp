// For: the lists of a report: kernels, collectives and phases of the window, complete. The report room cuts them.
// Not for: numbers that a gate judges (metric_table.hpp).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/metrics/rank_view.hpp"

namespace traceweir::metrics {

/// Phases nested deeper than this on one thread are not followed, so that hostile nesting stays linear.
inline constexpr int phase_depth_max = 32;

/// The name with every run of digits replaced by `N`: `forward layer 12` is `forward layer N`.
std::string phase_name(std::string_view range_name);

/// The phase_name of every range of the timeline.
PhaseNames phase_names_of(const timeline::Timeline& timeline);

/// Kernels and opaque graphs that start in the window, by name and kind.
/// Shape: by total, descending, then by name.   Cost: O(work + names log names).
std::vector<KernelRow> kernel_rows(const RankView& view);

/// Communication calls that start in the window, by kind, bytes, group size and dtype.
/// Shape: by total, descending.   Cost: O(calls log calls).
std::vector<CollectiveRow> collective_rows(const RankView& view);

/// User ranges that begin in the host range of a kept step and are no step themselves, by phase_name. Host time is the
/// union per thread, cut to the steps, added over threads; a phase that contains another has its time too.
/// Shape: by host time, descending, then by name; none where no step is marked.   Cost: O(ranges log ranges + work).
std::vector<PhaseRow> phase_rows(const RankView& view);

}  // namespace traceweir::metrics
