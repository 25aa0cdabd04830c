// For: where the level of a series changed: E-divisive splits with a t-test, for drift, segments and attribution.
// Not for: blocking a commit: a change shows only once several values after it are known (judge.hpp).
// Source: Matteson and James, "A nonparametric approach for multiple change point analysis" (2014), and the windows,
// the significance and the merging of Fleming and others, "Hunter" (2023); docs/gate.md, "change points".
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace traceweir::gate {

struct ChangePointOptions {
  double p_max = 0.001;         ///< a change must be less probable by noise alone
  double magnitude_min = 0.02;  ///< and larger than this ratio of either level
  std::size_t window = 50;      ///< values looked at together; 2 · values_min … change_window_max
  std::size_t values_min = 4;   ///< on each side of a change; 1 and more
};
inline constexpr std::size_t change_window_max = 1000;

/// A change of level. Units: `before` and `after` are those of the series.
struct ChangePoint {
  std::size_t index = 0;         ///< first value of the new level
  double before = 0, after = 0;  ///< means between the neighbouring changes
  double p = 1;                  ///< of the t-test between the two levels
  double magnitude = 0;          ///< the larger of |after/before − 1| and |before/after − 1|
};

/// The changes of a series, in its order. The same values give the same answer.
/// Shape:  values are oldest first, finite, of at most 1e150.
/// Cost:   O(n · window) for a series whose windows hold few changes, O(n · window²) at worst; memory O(n + window²).
std::vector<ChangePoint> change_points(std::span<const double> values, const ChangePointOptions& options = {});

/// The changes of a series that grows: the answer is that of change_points for all values so far, and what full windows
/// found is not sought again.
/// Cost:  points: O(window²) for the windows that are not full, and O(n) for testing every change.
class ChangePointScan {
 public:
  explicit ChangePointScan(const ChangePointOptions& options = {});

  void append(double value);
  std::vector<ChangePoint> points();

 private:
  /// Adds what the window at `begin` finds. Returns where the next window begins.
  std::size_t scan_window(std::size_t begin, std::vector<std::size_t>& indices) const;

  ChangePointOptions options_, weak_;
  std::vector<double> values_;
  std::size_t begin_ = 0;             ///< of the first window that is not full
  std::vector<std::size_t> indices_;  ///< of full windows
};

}  // namespace traceweir::gate
