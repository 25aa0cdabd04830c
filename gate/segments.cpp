#include "gate/segments.hpp"

#include <algorithm>
#include <cmath>

namespace traceweir::gate {
namespace {

bool is_better(const ChangePoint& change, Better side) {
  return side == Better::lower ? change.after < change.before : side == Better::higher && change.after > change.before;
}

/// Of points that are newest first; none where a value is no measurement.
std::vector<ChangePoint> changes_of(const std::vector<BaselinePoint>& points) {
  std::vector<double> values;
  for (auto point = points.rbegin(); point != points.rend(); ++point) values.push_back(point->value);
  const bool usable = std::all_of(values.begin(), values.end(), [](double v) { return std::abs(v) <= 1e150; });
  return usable ? change_points(values) : std::vector<ChangePoint>{};
}

void number(std::vector<BaselinePoint>& points, const std::vector<std::size_t>& starts) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::size_t index = points.size() - 1 - i;
    points[i].segment = starts.end() - std::upper_bound(starts.begin(), starts.end(), index);
  }
}

}  // namespace

std::vector<std::size_t> segment_starts(const SegmentQuestion& question) {
  std::vector<std::size_t> starts(question.accepted.begin(), question.accepted.end());
  for (const ChangePoint& change : question.changes) {
    if (!is_better(change, question.side)) continue;
    const auto from = question.counts.begin() + static_cast<std::ptrdiff_t>(change.index);
    if (std::count(from, question.counts.end(), 1) >= question.min_runs) starts.push_back(change.index);
  }
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  return starts;
}

std::vector<std::size_t> number_segments(std::vector<BaselinePoint>& points, Better side, std::int64_t min_runs,
                                         std::span<const std::size_t> accepted) {
  const std::vector<ChangePoint> changes = changes_of(points);
  const std::vector<char> counts(points.size(), 1);
  std::vector<std::size_t> starts = segment_starts({changes, counts, accepted, side, min_runs});
  number(points, starts);
  return starts;
}

void number_levels(std::vector<BaselinePoint>& points) {
  std::vector<std::size_t> starts;
  for (const ChangePoint& change : changes_of(points)) starts.push_back(change.index);
  for (std::size_t i = 0; i + 1 < points.size(); ++i)
    if (points[i].segment != points[i + 1].segment) starts.push_back(points.size() - 1 - i);
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  number(points, starts);
}

bool is_of_a_changed_level(const AlarmSpan& alarm, std::span<const ChangePoint> changes) {
  const auto after = std::find_if(changes.begin(), changes.end(),
                                  [&alarm](const ChangePoint& change) { return change.index >= alarm.end; });
  if (after == changes.begin()) return false;
  const ChangePoint& last = *std::prev(after);
  if (last.index >= alarm.begin) return true;
  if (!alarm.level || !alarm.fails_at) return false;
  const double middle = (*alarm.level + *alarm.fails_at) / 2;
  return *alarm.fails_at > *alarm.level ? last.after > middle : last.after < middle;
}

}  // namespace traceweir::gate
