// For: metrics whose last word the trace itself names: phases of the user's and sampled hardware counters. They follow
// the catalogue in a rank's measurements; docs/metrics.md lists each family as one row.
// Not for: metrics of the catalogue (metric_table.hpp).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/metrics/rank_view.hpp"

namespace traceweir::metrics {

/// Phases of one rank that have a metric of their own, by host time; the others are `phase.rest.share` together.
/// A policy names a handful; lists of all phases stand in the report. Ours, no source.
inline constexpr std::size_t named_phases_max = 32;
/// Counters of one rank that have a metric. Ours: the largest set of Nsight Systems has under 40 per GPU.
inline constexpr std::size_t named_counters_max = 64;
/// Families' members over all ranks of a run: those that most ranks have.
inline constexpr std::size_t named_of_run_max = 128;
/// Bytes of NAME; longer names are cut.
inline constexpr std::size_t name_part_bytes_max = 64;

/// NAME of `phase.NAME.share`: the phase's name, letters in lower case, of other characters only digits, `.`, `-` and
/// `_`; any others are one `_`. `%` is `percent`, since the unit of a counter stands in its name. Never empty.
std::string name_part(std::string_view text);

/// Host time of each phase over host time of the kept steps.   Units: ratio.
/// Shape: by host time, descending; empty where no steps are marked. Phases whose NAME is the same are added up.
std::vector<Measurement> phase_shares(const RankView& view, std::span<const PhaseRow> phases);

/// Mean of each counter's samples in the window, then over the devices that have some.   Units: as the name says.
/// Shape: by NAME; empty where the trace has no samples in the window.
std::vector<Measurement> counter_means(const RankView& view);

/// The members of both families that ranks of a run have: the mean over ranks, with extremes. A member that a rank
/// lacks is `no_such_table`.   Shape: by id.
std::vector<RunMeasurement> named_of_run(std::span<const RankShare> ranks);

/// The rows of the families: `phase.NAME.share`, `gpu_metrics.NAME`.
std::span<const MetricInfo> families();

/// The row of a member (`phase.forward.share`), or nothing.
std::optional<MetricInfo> family_member(std::string_view id);

}  // namespace traceweir::metrics
