#include "gate/history.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "analyzer/core/assert.hpp"
#include "gate/statistics.hpp"

namespace traceweir::gate {
namespace {

/// A baseline value on the scale.
struct Point {
  const BaselinePoint* from;
  double value;
  bool rejected = false;
};
/// The points of each segment, newest segment first, newest point first.
using Segments = std::map<std::int64_t, std::vector<Point>>;

bool all_above(const HistoryQuestion& question, double least) {
  return std::all_of(question.points.begin(), question.points.end(),
                     [least](const BaselinePoint& point) { return point.value > least; }) &&
         std::all_of(question.observed.begin(), question.observed.end(),
                     [least](double value) { return value > least; });
}

Scale scale_of(const HistoryQuestion& question) {
  if (question.side == Better::higher) return Scale::linear;
  const double least = question.unit == Unit::ratio ? logarithmic_ratio_min : 0;
  return all_above(question, least) ? Scale::logarithmic : Scale::linear;
}

Segments segments_of(const HistoryQuestion& question, Scale scale) {
  Segments segments;
  std::size_t taken = 0;
  for (const BaselinePoint& point : question.points) {
    if (!std::isfinite(point.value) || taken == noise_runs_max) continue;
    segments[point.segment].push_back({&point, to_scale(scale, point.value)});
    ++taken;
  }
  return segments;
}

/// Sorted, so that sums do not depend on the order of the values.
std::vector<double> kept_values(const std::vector<Point>& points) {
  std::vector<double> values;
  for (const Point& point : points)
    if (!point.rejected) values.push_back(point.value);
  std::sort(values.begin(), values.end());
  return values;
}

/// Distances from their own segment's mean.
std::vector<double> residuals_of(const Segments& segments) {
  std::vector<double> residuals;
  for (const auto& [number, points] : segments) {
    const std::vector<double> values = kept_values(points);
    if (values.empty()) continue;
    const double centre = mean(values);
    for (const double value : values) residuals.push_back(value - centre);
  }
  return residuals;
}

/// Values that say nothing of the others (a shared machine, a throttled GPU), but only from a history that is long
/// enough to know: rejecting from short ones shrinks the noise and makes false alarms.
void reject_outliers(Segments& segments, double resolution) {
  const std::vector<double> residuals = residuals_of(segments);
  if (residuals.size() < rejection_residuals_min) return;
  const double centre = median(residuals);
  const double deviation = std::max(normal_mad_factor * median_deviation(residuals), resolution);
  std::vector<Point*> outliers;
  for (auto& [number, points] : segments) {
    const double level = mean(kept_values(points));
    for (Point& point : points)
      if (std::abs(point.value - level - centre) > rejection_deviations * deviation) outliers.push_back(&point);
  }
  if (static_cast<double>(outliers.size()) >= rejection_share_max * static_cast<double>(residuals.size())) return;
  for (Point* point : outliers) point->rejected = true;
  // A level needs a value: the only run after a change may look like an outlier of it.
  std::vector<Point>& current = segments.begin()->second;
  if (kept_values(current).empty())
    for (Point& point : current) point.rejected = false;
}

/// Units: the scale's, as those of `level`.
double resolution_of(Unit unit, Scale scale, double level) {
  const double value = std::abs(from_scale(scale, level));
  const double resolution = unit == Unit::ratio ? resolution_of_ratio : resolution_of_level * value;
  if (scale == Scale::linear) return resolution;
  return unit == Unit::ratio ? resolution / value : resolution_of_level;
}

/// The current segment's newest `runs` values make the level.
void set_level(History& history, const std::vector<Point>& current, std::int64_t runs) {
  std::vector<Point> newest(
      current.begin(),
      current.begin() + std::min<std::ptrdiff_t>(std::ssize(current), std::max<std::int64_t>(runs, 1)));
  history.runs = std::ssize(newest);
  history.current = kept_values(newest);
  // All of the newest rejected, and older ones not: they are the level then, outliers or not.
  if (history.current.empty()) {
    for (Point& point : newest) point.rejected = false;
    history.current = kept_values(newest);
  }
  history.level = mean(history.current);
  std::vector<double> values;
  for (const Point& point : newest)
    if (!point.rejected) values.push_back(point.from->value);
  history.median = median(values);
  std::sort(values.begin(), values.end());
  history.level_value = mean_on(history.scale, values);
  const auto kept = [](const Point& point) { return !point.rejected; };
  const BaselinePoint& last = *std::find_if(newest.begin(), newest.end(), kept)->from;
  const BaselinePoint& first = *std::find_if(newest.rbegin(), newest.rend(), kept)->from;
  history.first = first.run;
  history.last = last.run;
  history.commit = last.commit;
}

void set_pooled_noise(History& history, const Segments& segments) {
  const std::vector<double> residuals = residuals_of(segments);
  std::int64_t used = 0;
  for (const auto& [number, points] : segments) used += kept_values(points).empty() ? 0 : 1;
  history.residuals = std::ssize(residuals);
  history.segments = used;
  history.degrees = static_cast<double>(history.residuals - used);
  double sum = 0;
  for (const double residual : residuals) sum += residual * residual;
  if (history.degrees >= 1) history.spread = std::sqrt(sum / history.degrees);
}

void set_median_noise(History& history) {
  history.residuals = std::ssize(history.current);
  history.segments = 1;
  if (history.current.size() < mad_runs_min) return;
  history.degrees = static_cast<double>(history.current.size() - 1);
  history.spread = normal_mad_factor * median_deviation(history.current);
  history.factor = mad_factor(history.current.size());
}

void set_own_noise(History& history) {
  history.residuals = std::ssize(history.current);
  history.segments = 1;
  if (history.current.size() < 2) return;
  history.degrees = static_cast<double>(history.current.size() - 1);
  history.spread = std::sqrt(variance_about(history.current, history.level));
}

}  // namespace

double to_scale(Scale scale, double value) { return scale == Scale::logarithmic ? std::log(value) : value; }
double from_scale(Scale scale, double value) { return scale == Scale::logarithmic ? std::exp(value) : value; }

double mean_on(Scale scale, std::span<const double> values) {
  if (scale == Scale::linear) return mean(values);
  // Differences of logarithms: equal values give that value, to the bit, and no ratio overflows.
  const double origin = std::log(values.front());
  std::vector<double> differences;
  for (const double value : values) differences.push_back(std::log(value) - origin);
  const double difference = mean(differences);
  return difference == 0 ? values.front() : std::exp(origin + difference);
}

History history_of(const HistoryQuestion& question) {
  History history;
  history.scale = scale_of(question);
  Segments segments = segments_of(question, history.scale);
  if (segments.empty() || segments.begin()->first != 0) return history;
  if (question.noise == Noise::mad || question.noise == Noise::t)
    segments.erase(std::next(segments.begin()), segments.end());
  const double about = mean(kept_values(segments.begin()->second));
  reject_outliers(segments, resolution_of(question.unit, history.scale, about));
  set_level(history, segments.begin()->second, question.runs);
  if (question.noise == Noise::mad)
    set_median_noise(history);
  else if (question.noise == Noise::t)
    set_own_noise(history);
  else
    set_pooled_noise(history, segments);
  if (history.degrees >= 1)
    history.spread = std::max(history.spread, resolution_of(question.unit, history.scale, history.level));
  return history;
}

double standard_error(const History& history, std::int64_t runs) {
  TRACEWEIR_ASSERT(runs >= 1 && !history.current.empty());
  return history.spread *
         std::sqrt(1.0 / static_cast<double>(runs) + 1.0 / static_cast<double>(history.current.size()));
}

double band(const History& history, std::int64_t runs, double tail) {
  return history.factor * standard_error(history, runs) * student_upper(tail, history.degrees);
}

}  // namespace traceweir::gate
