// For: one of two reports, reduced to what explanations are made of: sums of its breakdown, its kernels, its
// collectives by size. Linear: means over devices, then over ranks. Not for: comparing (explain.hpp).
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/report/report.hpp"
#include "gate/explanation.hpp"

namespace traceweir::gate {

/// What a sum is of. Only the fields of its cause are used.
struct TermKey {
  Cause cause = Cause::other;
  std::string name;        ///< compute: normalised kernel; idle: phase; exposed_memory: direction; exposed_comm: kind
  std::int64_t bytes = 0;  ///< exposed_comm: message size; 0: unknown, or the rest

  friend auto operator<=>(const TermKey&, const TermKey&) = default;
};
/// Units: ratio of the window, or ns per step.
using TermSums = std::map<TermKey, double>;

/// A list that was cut has a row for what is not in it.
inline constexpr std::string_view rest_name = "rest";
/// The row that stands for what is missing of the key's list.
TermKey rest_of(const TermKey& key);

/// What terms are divided by.
enum class Per { window, step };

/// Kernels of one normalised name, over ranks. Means over ranks.
struct KernelCalls {
  double calls = 0;  ///< per step where steps are known, else in the window
  double time = 0;   ///< ns, as calls
};
struct Kernels {
  std::map<std::string, KernelCalls> by_name;  ///< compute only
  double rest_time = 0;                        ///< of what is not listed
  bool complete = true;                        ///< no list was cut
};

/// Calls of one kind and message size.
struct SizeCalls {
  double weight = 0;               ///< share of the calls, mean over ranks
  double time = 0;                 ///< ns, mean of a call
  std::optional<double> transfer;  ///< ns, mean of the minimum over ranks; nothing: not matched
};
using Sizes = std::map<std::int64_t, SizeCalls>;

/// One rank's sums.
struct RankSums {
  std::int64_t rank;
  TermSums sums;
};

/// Shape: outlived by its report.
class RunSide {
 public:
  explicit RunSide(const report::Report& report);

  [[nodiscard]] const report::Report& report() const { return *report_; }
  /// Nothing where a rank has no window, or no steps for Per::step.
  [[nodiscard]] const std::optional<TermSums>& terms(Per per) const {
    return per == Per::window ? per_window_ : per_step_;
  }
  /// Units: ns per step; empty where terms(Per::step) is.
  [[nodiscard]] const std::vector<RankSums>& ranks() const { return ranks_; }
  [[nodiscard]] const Kernels& kernels() const { return kernels_; }
  /// Empty where a rank has no such calls.
  [[nodiscard]] Sizes sizes(timeline::Collective kind) const;
  /// The run's value of a metric.
  [[nodiscard]] std::optional<double> value(std::string_view metric) const;
  [[nodiscard]] const metrics::RunMeasurement* measurement(std::string_view metric) const;

 private:
  const report::Report* report_;
  std::optional<TermSums> per_window_, per_step_;
  std::vector<RankSums> ranks_;
  Kernels kernels_;
};

}  // namespace traceweir::gate
