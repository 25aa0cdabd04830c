// For: the copies of a rank by direction. Source: spec of metrics, sections 3 and 5.
// Not for: peer copies, which are communication (collectives.hpp).
//
// Bytes of 0 mean that the trace does not tell them.
#pragma once

#include "analyzer/metrics/rank_view.hpp"
#include "analyzer/metrics/value.hpp"

namespace traceweir::metrics {

/// Fills `view.copies` from a view whose window and devices are set.   Cost: O(work).
void tally_copies(RankView& view);

/// Time in which a copy of the direction runs.   Units: ratio.   No value: no_gpu_work.
Value h2d_share(const RankView& view);
Value d2h_share(const RankView& view);
Value d2d_share(const RankView& view);
/// Part of the host-to-device copy time that runs beside kernels, mean over the devices that have such copies.
/// Units: ratio.   No value: no_gpu_work, graph_opaque, no_copies.
Value h2d_overlap(const RankView& view);
/// Units: ns.   No value: no_gpu_work, no_steps.
Value h2d_time_per_step(const RankView& view);
Value d2h_time_per_step(const RankView& view);
Value d2d_time_per_step(const RankView& view);
/// Units: bytes.   No value: no_gpu_work, no_steps, no_sizes.
Value h2d_bytes_per_step(const RankView& view);
Value d2h_bytes_per_step(const RankView& view);
/// Bytes over durations of the sized copies.   Units: GB/s.   No value: no_gpu_work, no_copies, no_sizes.
Value h2d_bandwidth(const RankView& view);
/// Pageable bytes over those of copies whose host memory is known.
/// Units: ratio.   No value: no_gpu_work, no_copies, unknown_memory_kind, no_sizes.
Value pageable_share(const RankView& view);

}  // namespace traceweir::metrics
