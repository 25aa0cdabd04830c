// For: one rank seen through its window: the unions per device that every metric and every finding asks for, computed
// once. Not for: measuring; metric functions read this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/metrics/measure.hpp"
#include "analyzer/timeline/interval_set.hpp"
#include "analyzer/timeline/timeline.hpp"

namespace traceweir::metrics {

/// One step as the user marked it.
struct Step {
  Interval host;
  timeline::ThreadIndex thread{};
  timeline::NameId name{};
  std::optional<Nanos> first_work;  ///< begin of the first GPU work launched in it
  bool kept = false;                ///< not skipped
};

/// One device's work inside the window, as sets. Shape: all clipped to the window.
struct DeviceView {
  timeline::DeviceIndex device{};
  timeline::IntervalSet compute;  ///< kernels that are no communication, and opaque graphs
  timeline::IntervalSet graph;    ///< opaque graphs not covered by known compute
  timeline::IntervalSet comm;
  timeline::IntervalSet memory;
  timeline::IntervalSet busy;  ///< all of them
  DeviceTimes times;
};

/// Thread: immutable after construction; share freely. Outlived by its Timeline.
struct RankView {
  const timeline::Timeline* timeline = nullptr;
  std::optional<Window> window;             ///< none: no GPU work
  std::vector<Step> steps;                  ///< all marked steps, by host begin
  std::vector<DeviceView> devices;          ///< with work inside the window
  std::vector<std::uint32_t> step_of_work;  ///< per Timeline::work: index in `steps`, or timeline::none
};

/// Finds steps and window and computes the unions.
/// Errors: usage, where the options ask for a window that this trace does not have (named in the message).
/// Cost:   O(n log n) in work, calls and ranges.
Result<RankView> view_of(const timeline::Timeline& timeline, const MeasureOptions& options = {});

/// Everything measured through a view.
RankMeasures measure(const RankView& view);

/// What a rank gives to its run.
RankShare share_of(const RankView& view, const RankMeasures& measures, std::int64_t rank);

}  // namespace traceweir::metrics
