#include "analyzer/findings/host_activity.hpp"

#include <algorithm>
#include <span>

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

/// The three kinds of stretches of one thread, each sorted and disjoint.
struct Layers {
  std::span<const Interval> loading;
  std::span<const Interval> blocking;
  std::span<const Piece> phases;
};

std::vector<Nanos> borders_of(const Layers& layers) {
  std::vector<Nanos> borders;
  const auto add = [&](Interval span) {
    borders.push_back(span.begin);
    borders.push_back(span.end);
  };
  for (const Interval& span : layers.loading) add(span);
  for (const Interval& span : layers.blocking) add(span);
  for (const Piece& piece : layers.phases) add(piece.span);
  std::sort(borders.begin(), borders.end());
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
  return borders;
}

/// Drops the spans at the front that end at or before `t`; tells whether the first one left contains it.
bool reaches(std::span<const Interval>& spans, Nanos t) {
  while (!spans.empty() && spans.front().end <= t) spans = spans.subspan(1);
  return !spans.empty() && spans.front().contains(t);
}

std::uint32_t phase_at(std::span<const Piece>& pieces, Nanos t) {
  while (!pieces.empty() && pieces.front().span.end <= t) pieces = pieces.subspan(1);
  return !pieces.empty() && pieces.front().span.contains(t) ? pieces.front().owner : no_phase;
}

std::vector<HostPiece> laid_over(Layers layers) {
  std::vector<HostPiece> pieces;
  const std::vector<Nanos> borders = borders_of(layers);
  for (std::size_t i = 0; i + 1 < borders.size(); ++i) {
    const Nanos t = borders[i];
    const HostState state{reaches(layers.loading, t), reaches(layers.blocking, t), phase_at(layers.phases, t)};
    if (state != HostState{}) pieces.push_back({{t, borders[i + 1]}, state});
  }
  return pieces;
}

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
  std::vector<Interval> loading;
  std::vector<Claim> phases;
  const auto ranges = ranges_of(timeline_, thread);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const Range& range = ranges[i];
    if (phases_.is_data_loading(range)) loading.push_back(range.span());
    // Ranges come by begin, longest first: the later one is the inner one, and wins.
    const std::uint64_t rank = ranges.size() - i;
    if (const auto phase = phases_.phase_of(range); phase != no_phase) phases.push_back({range.span(), rank, phase});
  }
  using timeline::IntervalSet;
  const IntervalSet loads = IntervalSet::union_of(std::move(loading));
  const IntervalSet blocks = IntervalSet::union_of(std::move(blocking_[static_cast<std::size_t>(thread)]));
  const std::vector<Piece> innermost = owners_of(phases);
  return laid_over({loads.parts(), blocks.parts(), innermost});
}

}  // namespace traceweir::findings
