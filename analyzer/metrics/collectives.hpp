// For: the communication of a rank by kind. Source: spec of metrics, section 4.
// Not for: what needs several ranks (ranks.hpp) or naming kinds (ingest/collectives).
//
// A kind of which no call starts in the window is `no_comm`: all its metrics, shares too.
#pragma once

#include "analyzer/metrics/rank_view.hpp"
#include "analyzer/metrics/value.hpp"

namespace traceweir::metrics {

/// Bus bandwidth of one call in 1e9 bytes/s; nothing where it is not defined (size, group or time unknown, a group of
/// one, kind `other`).   Units: bytes, ns.   Source: nccl-tests, doc/PERFORMANCE.md.
std::optional<double> bus_bandwidth(timeline::Collective kind, std::int64_t bytes, std::int64_t group_size,
                                    Nanos duration);

/// Fills `view.kinds` from a view whose window and devices are set.   Cost: O(work + communication log communication).
void tally_kinds(RankView& view);

/// The calls of a kind on this rank, waiting included.
/// No value: no_gpu_work, graph_opaque, no_comm; `_per_step` also no_steps; sizes also no_sizes.
Value kind_time_mean(const RankView& view, timeline::Collective kind);         // Units: ns
Value kind_time_p50(const RankView& view, timeline::Collective kind);          // Units: ns
Value kind_time_p95(const RankView& view, timeline::Collective kind);          // Units: ns
Value kind_time_max(const RankView& view, timeline::Collective kind);          // Units: ns
Value kind_time_total(const RankView& view, timeline::Collective kind);        // Units: ns
Value kind_count(const RankView& view, timeline::Collective kind);             // Units: count
Value kind_share(const RankView& view, timeline::Collective kind);             // Units: ratio
Value kind_exposed_share(const RankView& view, timeline::Collective kind);     // Units: ratio
Value kind_time_per_step(const RankView& view, timeline::Collective kind);     // Units: ns
Value kind_count_per_step(const RankView& view, timeline::Collective kind);    // Units: count
Value kind_exposed_per_step(const RankView& view, timeline::Collective kind);  // Units: ns
Value kind_bytes_mean(const RankView& view, timeline::Collective kind);        // Units: bytes
Value kind_busbw(const RankView& view, timeline::Collective kind);             // Units: GB/s

/// Share of the sized all-reduces with at most small_message_bytes_max.   Units: ratio.
Value allreduce_small_share(const RankView& view);

}  // namespace traceweir::metrics
