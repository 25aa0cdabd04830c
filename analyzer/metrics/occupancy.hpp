// For: what the devices of a rank did with the window: the sets per device and the ratios made of them.
// Not for: kinds of collectives, directions of copies (their own pairs).
// Source: spec of metrics, section 3. Every ratio is the mean over the devices with work in the window.
#pragma once

#include "analyzer/metrics/rank_view.hpp"
#include "analyzer/metrics/value.hpp"

namespace traceweir::metrics {

/// The sets of every device with work in the window. Asserts the identity
/// compute + graph + exposed_comm + exposed_memory + idle = window, in ns, on each.
/// Cost: O(work), one walk for all devices.
std::vector<DeviceView> device_views(const timeline::Timeline& timeline, Interval window);

/// Whether work belongs to the window: it overlaps it, or it has no length and starts in it.
bool touches(const timeline::Work& work, Interval window);

/// Sum over devices of a set's length over devices × window: the mean of the devices' ratios.
double mean_share(const RankView& view, const Sum& length);

/// Sum over devices of something over devices × steps.   No value: no_steps (a window without a step count).
Value mean_per_step(const RankView& view, const Sum& sum);

/// A kernel is running.   Units: ratio.   No value: no_gpu_work.
Value gpu_utilization(const RankView& view);
/// A kernel that is no communication is running.   Units: ratio.   No value: no_gpu_work, graph_opaque.
Value gpu_compute(const RankView& view);
/// Communication without compute.   Units: ratio.   No value: no_gpu_work, graph_opaque.
Value gpu_exposed_comm(const RankView& view);
/// Copies and memsets without a kernel.   Units: ratio.   No value: no_gpu_work, graph_opaque.
Value gpu_exposed_memory(const RankView& view);
/// Nothing is running.   Units: ratio.   No value: no_gpu_work.
Value gpu_idle(const RankView& view);
/// Communication is running.   Units: ratio.   No value: no_gpu_work, graph_opaque.
Value comm_share(const RankView& view);
/// Part of the communication that runs beside compute, mean over the devices that communicate.
/// Units: ratio.   No value: no_gpu_work, graph_opaque, no_comm.
Value comm_overlap(const RankView& view);
/// Communication without compute, per step.   Units: ns.   No value: no_gpu_work, graph_opaque, no_steps.
Value comm_exposed_per_step(const RankView& view);

}  // namespace traceweir::metrics
