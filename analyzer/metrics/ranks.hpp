// For: what needs several ranks: matching their communication calls, and the metrics made of the matches.
// Source: spec of metrics, sections 4 ("Ranks are matched …"), 5 and 6.
// Not for: means over ranks of one rank's metrics, which measure_run makes from the catalogue.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/metrics/measure.hpp"
#include "analyzer/metrics/statistics.hpp"
#include "analyzer/metrics/value.hpp"

namespace traceweir::metrics {

/// What the ranks' matched calls of one kind took. Units: ns.
struct KindMatches {
  std::int64_t matched = 0;       ///< calls that start inside every rank's window
  Sum transfer;                   ///< per call the minimum over the ranks
  std::vector<Sum> own;           ///< per rank of the run: duration of its matched calls
  std::vector<Sum> own_transfer;  ///< per rank of the run: transfer of its matched calls
  bool seen = false;              ///< any rank has calls of this kind in its window
  bool unmatched = false;         ///< a group with calls of this kind could not be matched
};
/// The same of one message size. Units: ns.
struct SizeMatches {
  std::int64_t matched = 0;
  Sum transfer;
  std::int64_t calls = 0;  ///< of all ranks
  Sum own;                 ///< their durations
};
struct RunMatches {
  std::array<KindMatches, std::size(timeline::collectives)> kinds;             ///< by Collective
  std::map<std::pair<timeline::Collective, std::int64_t>, SizeMatches> sizes;  ///< by kind and bytes
  std::int64_t matched = 0;                                                    ///< of all kinds
  /// Per rank of the run: matched calls that were the shortest there, after the longest compute. Ties are nobody's.
  std::vector<std::int64_t> last_to_arrive;

  [[nodiscard]] const KindMatches& of(timeline::Collective kind) const { return kinds[static_cast<std::size_t>(kind)]; }
};

/// Matches the ranks' calls per process group: by sequence number where all calls of the group have distinct ones, else
/// by order if counts (and kinds) agree, else not at all. A named group spans the ranks that have calls of it; calls
/// without a group are one group of all ranks. A group that is seen on one rank only is not matched.
/// Cost: O(calls log calls).
RunMatches match_calls(std::span<const RankShare> ranks);

/// The matched calls by kind and message size, those that took longest first.
std::vector<MatchedRow> matched_rows(const RunMatches& matches);

/// The ranks of a run. Outlived by them.
struct RunView {
  std::span<const RankShare> ranks;
  RunMatches matches;
};

/// As measure_run(ranks), of a run whose calls are matched.   Shape: empty where there is no rank.
std::vector<RunMeasurement> measure_matched(const RunView& run);

/// A value of the run, with each rank's own where it has one (else empty).
struct RunValue {
  Value value;
  std::vector<double> by_rank;
};

/// Mean over matched calls of the minimum over ranks.   Units: ns.   No value: no_comm, untrusted_data.
RunValue kind_transfer_mean(const RunView& run, timeline::Collective kind);
/// Calls that were matched.   Units: count.   No value: as above.
RunValue kind_matched_calls(const RunView& run, timeline::Collective kind);
/// 1 - transfer / own duration of the matched calls, per rank, then the mean.   Units: ratio.   No value: as above.
RunValue kind_wait_share(const RunView& run, timeline::Collective kind);

/// (max - min) / mean of `gpu.compute` over the ranks.   Units: ratio.   No value: the reason of a rank's.
RunValue compute_skew(const RunView& run);
/// The same of `step.time_p50`.
RunValue step_skew(const RunView& run);

}  // namespace traceweir::metrics
