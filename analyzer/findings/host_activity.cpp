#include "analyzer/findings/host_activity.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "analyzer/core/assert.hpp"
#include "analyzer/findings/owner_sweep.hpp"

namespace traceweir::findings {
namespace {

using timeline::Range;

std::span<const Range> ranges_of(const timeline::Timeline& timeline, timeline::ThreadIndex thread) {
  const auto [first, last] =
      std::equal_range(timeline.ranges.begin(), timeline.ranges.end(), Range{{}, {}, {}, thread, {}},
                       [](const Range& a, const Range& b) { return a.thread < b.thread; });
  return {first, last};
}

/// Drops the spans at the front that end at or before `t`; tells whether the first one left contains it.
bool reaches(std::span<const Interval>& spans, Nanos t) {
  while (!spans.empty() && spans.front().end <= t) spans = spans.subspan(1);
  return !spans.empty() && spans.front().contains(t);
}

/// Lays stretches in one phase each, which come in order, over what else the thread was in.
class Layers {
 public:
  Layers(std::span<const Interval> loading, std::span<const Interval> blocking, std::size_t pieces)
      : loading_(loading), blocking_(blocking) {
    pieces_.reserve(pieces);
  }

  void add(Interval stretch, std::uint32_t phase) {
    for (Nanos t = stretch.begin; t < stretch.end;) {
      const HostState state{reaches(loading_, t), reaches(blocking_, t), phase};
      const Nanos next = std::min({stretch.end, border_after(loading_, t), border_after(blocking_, t)});
      if (state != HostState{}) pieces_.push_back({{t, next}, state});
      t = next;
    }
  }

  std::vector<HostPiece> take() && { return std::move(pieces_); }

 private:
  /// Shape: none of the spans ends at or before `t`.
  static Nanos border_after(std::span<const Interval> spans, Nanos t) {
    if (spans.empty()) return Nanos::max();
    return spans.front().begin > t ? spans.front().begin : spans.front().end;
  }

  std::span<const Interval> loading_;
  std::span<const Interval> blocking_;
  std::vector<HostPiece> pieces_;
};

}  // namespace

HostActivity::HostActivity(const metrics::RankView& view)
    : timeline_(*view.timeline), phases_(view), blocking_(timeline_.thread_count), pieces_(timeline_.thread_count) {
  for (const timeline::Call& call : timeline_.calls)
    if (call.blocking) blocking_[static_cast<std::size_t>(call.thread)].push_back(call.span());
}

const std::vector<HostPiece>& HostActivity::pieces(timeline::ThreadIndex thread) {
  const auto index = static_cast<std::size_t>(thread);
  TRACEWEIR_ASSERT(index < pieces_.size());
  if (!pieces_[index]) pieces_[index] = pieces_of(thread);
  return *pieces_[index];
}

std::vector<HostPiece> HostActivity::pieces_of(timeline::ThreadIndex thread) {
  const auto ranges = ranges_of(timeline_, thread);
  std::vector<Interval> loading;
  for (const Range& range : ranges)
    if (phases_.is_data_loading(range)) loading.push_back(range.span());
  using timeline::IntervalSet;
  const IntervalSet loads = IntervalSet::union_of(std::move(loading));
  const IntervalSet blocks = IntervalSet::union_of(std::move(blocking_[static_cast<std::size_t>(thread)]));

  // A trace has as many ranges as it likes, so that they are looked at as they come.
  auto at = ranges.begin();
  const auto next = [&]() -> std::optional<Claim> {
    for (; at != ranges.end(); ++at) {
      const auto phase = phases_.phase_of(*at);
      if (phase == no_phase) continue;
      // Ranges come by begin, longest first: the later one is the inner one, and wins.
      const auto rank = static_cast<std::uint64_t>(ranges.end() - at);
      return Claim{(at++)->span(), rank, phase};
    }
    return std::nullopt;
  };
  Layers layers(loads.parts(), blocks.parts(), ranges.size());
  Nanos reach = Nanos::min();
  sweep_owners(next, [&](const Piece& piece) {
    layers.add({reach, piece.span.begin}, no_phase);
    layers.add(piece.span, piece.owner);
    reach = piece.span.end;
  });
  layers.add({reach, Nanos::max()}, no_phase);
  return std::move(layers).take();
}

}  // namespace traceweir::findings
