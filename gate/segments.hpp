// For: stretches of a baseline with one level: where they begin.
// Not for: finding changes (change_points.hpp), or what a level means (history.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/core/metric.hpp"
#include "gate/change_points.hpp"
#include "gate/judge.hpp"

namespace traceweir::gate {

struct SegmentQuestion {
  std::span<const ChangePoint> changes;
  std::span<const char> counts;           ///< of every value, oldest first: whether it is in the baseline
  std::span<const std::size_t> accepted;  ///< indices of values whose level was accepted
  Better side = Better::lower;
  std::int64_t min_runs = 5;
};

/// Where segments begin, in order: at accepted values, and at changes for the better. A change for the worse begins
/// none by itself, and a better level of fewer than `min_runs` values is not yet one to be judged by.
std::vector<std::size_t> segment_starts(const SegmentQuestion& question);

/// Numbers the points of a baseline: 0 is the current segment, then older ones. Changes are sought among the points.
/// Returns where segments begin, as indices of the points oldest first.
/// Shape:  `points` are newest first, and all of them count. `accepted`: where accepted levels begin, as indices of the
///         points oldest first; the number of points where none of them is of that level yet.
std::vector<std::size_t> number_segments(std::vector<BaselinePoint>& points, Better side, std::int64_t min_runs,
                                         std::span<const std::size_t> accepted = {});

/// The same with every change beginning a segment, for better and for worse, beside the segments that there are: where
/// only the noise is asked for, and a level that drifts must not count as noise.
void number_levels(std::vector<BaselinePoint>& points);

/// Values one after the other that fail, and what the first of them was judged by.
struct AlarmSpan {
  std::size_t begin = 0, end = 0;  ///< [begin, end)
  std::optional<double> level, fails_at;
};

/// Whether the level of the series had changed where the alarm was: in it, or before it to one that is nearer to
/// failing than to the baseline's. A value that is within by chance ends an alarm, and not the level.
bool is_of_a_changed_level(const AlarmSpan& alarm, std::span<const ChangePoint> changes);

}  // namespace traceweir::gate
