// For: which ranges are phases of the user's and which are data loading, and what phases are called.
// Not for: measuring phases (analyzer/metrics).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/metrics/rank_view.hpp"
#include "analyzer/metrics/step_ranges.hpp"
#include "analyzer/timeline/interval_set.hpp"

namespace traceweir::findings {

inline constexpr std::uint32_t no_phase = timeline::none;

/// Whether a range of this name fetches or prepares input: `enumerate(DataLoader)…`, or a phase whose name has data,
/// load, fetch, input, decode or augment in it (any case), and not for
/// another reason (DistributedDataParallel, workload, upload). Source: spec of metrics, section 8.
bool names_data_loading(std::string_view range_name);

/// The phases of one rank.
class Phases {
 public:
  explicit Phases(const metrics::RankView& view);

  /// The phase that `range` is, or no_phase.
  /// A phase is a user's range that is no step and begins inside a step, or lies in the time between steps (a loop that
  /// fetches its batch before it opens the step). Where no steps are marked every user's range is one.
  [[nodiscard]] std::uint32_t phase_of(const timeline::Range& range) const;

  /// Whether `range` is data loading: a phase with such a name, or PyTorch's own range of its DataLoader.
  [[nodiscard]] bool is_data_loading(const timeline::Range& range) const;

  /// Shape: empty for no_phase.
  [[nodiscard]] const std::string& name(std::uint32_t phase) const;

 private:
  enum class Loading : std::uint8_t { no, in_a_phase, always };

  void read_names();
  static Loading loading_of(std::string_view range_name);
  [[nodiscard]] bool is_phase(const timeline::Range& range) const;

  const timeline::Timeline& timeline_;
  metrics::StepRanges step_ranges_;
  timeline::IntervalSet steps_;
  const metrics::PhaseNames& names_;
  std::vector<Loading> loading_by_form_;  ///< by NameId
};

}  // namespace traceweir::findings
