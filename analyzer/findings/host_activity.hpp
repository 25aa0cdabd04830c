// For: what a host thread was in at an instant: data loading, a blocking call, a phase of the user's.
// Not for: what the GPU did.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/time.hpp"
#include "analyzer/findings/phases.hpp"
#include "analyzer/metrics/rank_view.hpp"

namespace traceweir::findings {

/// What a thread was in. The default: nothing that we know of.
struct HostState {
  bool loading = false;            ///< inside a data-loading range
  bool blocking = false;           ///< inside a call in which the host waits
  std::uint32_t phase = no_phase;  ///< the innermost phase
  friend bool operator==(const HostState&, const HostState&) = default;
};

/// A stretch of a thread's time in one state.
struct HostPiece {
  Interval span;
  HostState state;
};

/// The threads of one rank, each worked out when it is first asked for.
/// Cost: O(n log n) in the thread's ranges and blocking calls, once.
class HostActivity {
 public:
  explicit HostActivity(const metrics::RankView& view);

  /// Shape: sorted, disjoint, none empty; gaps between pieces are in the default state.
  const std::vector<HostPiece>& pieces(timeline::ThreadIndex thread);

  [[nodiscard]] const std::string& phase_name(std::uint32_t phase) const { return phases_.name(phase); }

 private:
  std::vector<HostPiece> pieces_of(timeline::ThreadIndex thread);

  const timeline::Timeline& timeline_;
  Phases phases_;
  std::vector<std::vector<Interval>> blocking_;  // by thread
  std::vector<std::optional<std::vector<HostPiece>>> pieces_;
};

/// Calls `visit(Interval, HostState)` for every part of `span`, in order, stretches in the default state included.
template <typename Visit>
void for_each_state(const std::vector<HostPiece>& pieces, Interval span, Visit visit) {
  auto piece =
      std::partition_point(pieces.begin(), pieces.end(), [&](const HostPiece& p) { return p.span.end <= span.begin; });
  Nanos now = span.begin;
  for (; piece != pieces.end() && piece->span.begin < span.end; ++piece) {
    if (now < piece->span.begin) visit(Interval{now, piece->span.begin}, HostState{});
    const Interval part{std::max(now, piece->span.begin), std::min(piece->span.end, span.end)};
    visit(part, piece->state);
    now = part.end;
  }
  if (now < span.end) visit(Interval{now, span.end}, HostState{});
}

}  // namespace traceweir::findings
