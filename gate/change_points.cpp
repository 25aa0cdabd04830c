#include "gate/change_points.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "analyzer/core/assert.hpp"
#include "gate/statistics.hpp"

namespace traceweir::gate {
namespace {

using Values = std::span<const double>;

/// Where a segment would be divided, and how unlike its two parts are.
struct Candidate {
  std::size_t index = 0;
  double unlikeness = 0;
};

/// Energy distances between neighbouring parts of one segment: X = its first m values, Y = the n values after them,
///   Q = 2/(m+n) · Σ|x−y| − 2n/((m+n)(m−1)) · Σ|x−x′| − 2m/((m+n)(n−1)) · Σ|y−y′|,
/// where Y may end before the segment does, so that a passing change is seen too. Sums only ever grow: a difference of
/// sums would drown small distances behind a large one.
class Energy {
 public:
  explicit Energy(Values segment) : x_(segment), size_(segment.size()), between_(size_ * size_), left_(size_ + 1) {
    std::vector<double> from_left(size_, 0.0);  // Σ of distances of a value to the first m
    for (std::size_t m = 1; m < size_; ++m) {
      left_[m] = left_[m - 1] + from_left[m - 1];
      double sum = 0;
      for (std::size_t j = m; j < size_; ++j) {
        from_left[j] += distance(m - 1, j);
        between_[m * size_ + j] = sum += from_left[j];
      }
    }
  }

  /// The most unlike parts of at least `least` values each; the leftmost of equals. A place that is less unlike than
  /// its neighbour is no change, only near one: near one that has too few values on a side, too.
  [[nodiscard]] std::optional<Candidate> best(std::size_t least) const {
    if (size_ < 2 * least) return std::nullopt;
    const std::vector<double> unlike = unlikeness_by_place(least);
    std::optional<Candidate> best;
    for (std::size_t m = least; m <= size_ - least; ++m) {
      const bool is_peak = unlike[m] >= unlike[m - 1] && unlike[m] >= unlike[m + 1];
      if (is_peak && (!best || unlike[m] > best->unlikeness)) best = {m, unlike[m]};
    }
    return best;
  }

 private:
  [[nodiscard]] double distance(std::size_t i, std::size_t j) const { return std::abs(x_[i] - x_[j]); }

  /// [m]: of the first m values and those after them, of which there are `least` where there are so many; −∞ at the
  /// ends.
  [[nodiscard]] std::vector<double> unlikeness_by_place(std::size_t least) const {
    std::vector<double> unlike(size_ + 1, -std::numeric_limits<double>::infinity());
    std::vector<double> right(size_, 0.0);  // Σ of distances inside Y, by its last value
    for (std::size_t m = size_ - 1; m >= 1; --m) {
      const std::size_t enough = std::min(least, size_ - m);
      double from_first = 0;
      for (std::size_t j = m; j < size_; ++j) {
        right[j] += from_first += distance(m, j);
        if (j + 1 - m >= enough) unlike[m] = std::max(unlike[m], unlikeness(m, j, right[j]));
      }
    }
    return unlike;
  }

  [[nodiscard]] double unlikeness(std::size_t first, std::size_t last, double right) const {
    const auto m = static_cast<double>(first), n = static_cast<double>(last + 1 - first);
    double q = 2 / (m + n) * between_[first * size_ + last];
    if (first > 1) q -= 2 * n / ((m + n) * (m - 1)) * left_[first];
    if (last > first) q -= 2 * m / ((m + n) * (n - 1)) * right;
    return q;
  }

  Values x_;
  std::size_t size_;
  std::vector<double> between_;  ///< [m · size + j]: Σ of distances between the first m values and those from m to j
  std::vector<double> left_;     ///< [m]: Σ of distances inside the first m
};

double spread_of(Values values, double centre) {
  double sum = 0;
  for (const double value : values) sum += (value - centre) * (value - centre);
  return sum / static_cast<double>(values.size());
}

/// Kept a number: documents have no infinity.
double change_ratio(double from, double to) {
  return from == 0 ? 0 : std::min(std::abs(to / from - 1), std::numeric_limits<double>::max());
}

/// Student's two-sided test with the pooled variance, which is fed with variances of divisor N as the method's authors
/// do: a little too sure for short segments.
double p_of(Values left, Values right, double before, double after) {
  const auto m = static_cast<double>(left.size()), n = static_cast<double>(right.size());
  const double degrees = m + n - 2;
  if (degrees <= 0 || before == after) return 1;
  const double pooled = ((m - 1) * spread_of(left, before) + (n - 1) * spread_of(right, after)) / degrees;
  const double error = std::sqrt(pooled * (1 / m + 1 / n));
  return error == 0 ? 0 : 2 * student_tail(std::abs(after - before) / error, degrees);
}

/// A change at `index` of `values`, judged between `begin` and `end`.
ChangePoint tested(Values values, std::size_t begin, std::size_t index, std::size_t end) {
  const Values left = values.subspan(begin, index - begin), right = values.subspan(index, end - index);
  ChangePoint point;
  point.index = index;
  point.before = mean(left);
  point.after = mean(right);
  point.p = p_of(left, right, point.before, point.after);
  point.magnitude = std::max(change_ratio(point.before, point.after), change_ratio(point.after, point.before));
  return point;
}

/// A part of a window, and where it would be divided next.
struct Segment {
  std::size_t begin, end;
  std::optional<Candidate> candidate;
};

Segment segment_of(Values values, std::size_t begin, std::size_t end, std::size_t least) {
  std::optional<Candidate> candidate = Energy(values.subspan(begin, end - begin)).best(least);
  if (candidate) candidate->index += begin;
  return {begin, end, candidate};
}

/// Divides the most unlike segment first, and stops at the first division that noise explains.
std::vector<std::size_t> split_window(Values values, std::size_t begin, std::size_t end,
                                      const ChangePointOptions& weak) {
  std::vector<Segment> segments{segment_of(values, begin, end, weak.values_min)};
  std::vector<std::size_t> found;
  for (;;) {
    const auto best = std::max_element(segments.begin(), segments.end(), [](const Segment& a, const Segment& b) {
      return a.candidate && b.candidate ? a.candidate->unlikeness < b.candidate->unlikeness
                                        : b.candidate.has_value() && !a.candidate;
    });
    if (!best->candidate) break;
    const auto [from, to, candidate] = *best;
    if (tested(values, from, candidate->index, to).p > weak.p_max) break;
    found.push_back(candidate->index);
    *best = segment_of(values, from, candidate->index, weak.values_min);
    segments.insert(std::next(best), segment_of(values, candidate->index, to, weak.values_min));
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// The first pass lets more pass than the second: a change is judged by its neighbours, and these are not known yet.
double weak_p(double p) { return p < 0.05 ? 10 * p : (p < 0.5 ? 2 * p : p); }

/// How far windows are apart: half a window, or less where that would leave places that no window sees from inside.
std::size_t step_of(const ChangePointOptions& options) {
  return std::min(options.window / 2, options.window - 2 * options.values_min + 1);
}

/// The changes, kept in order, each tested between its neighbours.
class Merging {
 public:
  Merging(Values values, const std::vector<std::size_t>& indices) : values_(values) {
    for (const std::size_t index : indices) points_.push_back({index});
    for (std::size_t i = 0; i < points_.size(); ++i) test(i);
  }

  /// Takes the least certain change away while it is not certain enough, then the least one while it is too small.
  std::vector<ChangePoint> merged(const ChangePointOptions& options) {
    while (!points_.empty()) {
      auto weakest = std::max_element(points_.begin(), points_.end(),
                                      [](const ChangePoint& a, const ChangePoint& b) { return a.p < b.p; });
      if (weakest->p < options.p_max) {
        weakest = std::min_element(points_.begin(), points_.end(), [](const ChangePoint& a, const ChangePoint& b) {
          return a.magnitude < b.magnitude;
        });
        if (weakest->magnitude > options.magnitude_min) break;
      }
      const auto at = static_cast<std::size_t>(weakest - points_.begin());
      points_.erase(weakest);
      // Both neighbours have other values around them now.
      if (at > 0) test(at - 1);
      if (at < points_.size()) test(at);
    }
    return std::move(points_);
  }

 private:
  void test(std::size_t i) {
    const std::size_t begin = i == 0 ? 0 : points_[i - 1].index;
    const std::size_t end = i + 1 == points_.size() ? values_.size() : points_[i + 1].index;
    points_[i] = tested(values_, begin, points_[i].index, end);
  }

  Values values_;
  std::vector<ChangePoint> points_;
};

}  // namespace

ChangePointScan::ChangePointScan(const ChangePointOptions& options) : options_(options), weak_(options) {
  TRACEWEIR_ASSERT(options.values_min >= 1 && options.window <= change_window_max);
  TRACEWEIR_ASSERT(options.window >= 2 * options.values_min);
  weak_.p_max = weak_p(options.p_max);
}

void ChangePointScan::append(double value) { values_.push_back(value); }

std::size_t ChangePointScan::scan_window(std::size_t begin, std::vector<std::size_t>& indices) const {
  const std::vector<std::size_t> found =
      split_window(values_, begin, std::min(begin + options_.window, values_.size()), weak_);
  indices.insert(indices.end(), found.begin(), found.end());
  return std::max(begin + step_of(options_), found.empty() ? 0 : found.back());
}

std::vector<ChangePoint> ChangePointScan::points() {
  // A window that is full stays what it is.
  while (begin_ + options_.window <= values_.size()) begin_ = scan_window(begin_, indices_);
  std::vector<std::size_t> indices = indices_;
  for (std::size_t begin = begin_; begin < values_.size();) begin = scan_window(begin, indices);
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  return Merging(values_, indices).merged(options_);
}

std::vector<ChangePoint> change_points(std::span<const double> values, const ChangePointOptions& options) {
  ChangePointScan scan(options);
  for (const double value : values) scan.append(value);
  return scan.points();
}

}  // namespace traceweir::gate
