// For: what the host of a rank did: blocking calls, launches, allocations. Source: spec of metrics, sections 3 and 5.
// Not for: why the GPU was idle (findings/attribution).
//
// Host metrics are the process's: they are not divided by devices, except the kernels per step.
#pragma once

#include "analyzer/metrics/rank_view.hpp"
#include "analyzer/metrics/value.hpp"

namespace traceweir::metrics {

/// Host time in blocking calls, union per thread, added over threads, over the window: above 1 with several threads.
/// Units: ratio.   No value: no_gpu_work, no_host_calls.
Value sync_share(const RankView& view);
/// The same per step.   Units: ns.   No value: no_gpu_work, no_host_calls, no_steps.
Value sync_time_per_step(const RankView& view);
/// Blocking calls that start in the window, per step.   Units: count.   No value: no_gpu_work, no_host_calls, no_steps.
Value sync_count_per_step(const RankView& view);
/// Calls that allocate or free device memory, per step.   Units: count.   No value: as above.
Value alloc_count_per_step(const RankView& view);
/// Kernels per step, mean over devices.   Units: count.   No value: no_gpu_work, graph_opaque, no_steps.
Value launch_count_per_step(const RankView& view);
/// Median duration of a kernel.   Units: ns.   No value: no_gpu_work (no kernel), graph_opaque.
Value launch_kernel_p50(const RankView& view);
/// Median of a kernel's start on the GPU less the end of its launching call, not below 0.
/// Units: ns.   No value: no_gpu_work (no kernel), graph_opaque, no_host_calls (no kernel's call is known).
Value launch_delay_p50(const RankView& view);

}  // namespace traceweir::metrics
