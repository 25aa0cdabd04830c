// For: one rank seen through its window: the unions per device that every metric and every finding asks for, computed
// once. Not for: measuring; metric functions read this.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/metrics/measure.hpp"
#include "analyzer/metrics/statistics.hpp"
#include "analyzer/timeline/interval_set.hpp"
#include "analyzer/timeline/timeline.hpp"

namespace traceweir::metrics {

/// One step as the user marked it.
struct Step {
  Interval host;
  timeline::ThreadIndex thread{};
  timeline::RangeName name{};
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
  timeline::IntervalSet running;         ///< compute and comm: a kernel is running
  timeline::IntervalSet busy;            ///< all of them
  timeline::IntervalSet exposed_comm;    ///< comm without compute
  timeline::IntervalSet exposed_memory;  ///< memory without running
  DeviceTimes times;
};

/// The communication of one kind, over the devices. Calls are those that start in the window, uncut; unions are cut.
struct KindTally {
  std::vector<std::int64_t> durations;  ///< ns per call, ascending
  Sum duration;                         ///< of them
  Sum united;                           ///< ns of the unions, added over devices
  Sum exposed;                          ///< ns of them not covered by compute
  std::vector<double> bus_bandwidths;   ///< GB/s per call of known size in a group of several, ascending
  Sum bytes;                            ///< of the sized calls
  std::int64_t sized = 0;               ///< calls whose size the metadata tell
  std::int64_t small = 0;               ///< of them those of at most small_message_bytes_max
};
inline constexpr std::int64_t small_message_bytes_max = std::int64_t{2} << 20;

/// The copies of one direction, over the devices. Copies are those that start in the window, uncut; unions are cut.
struct CopyTally {
  std::int64_t count = 0;
  Sum bytes;
  Sum sized_duration;         ///< ns of the copies whose bytes are known
  Sum united;                 ///< ns of the unions, added over devices
  double overlap_ratios = 0;  ///< part of a device's union that runs beside kernels, added over `overlap_devices`
  std::int64_t overlap_devices = 0;  ///< devices with such copies
  Sum known_bytes;                   ///< of copies whose host memory is pageable or pinned
  Sum pageable_bytes;
  bool knows_memory = false;  ///< whether there is one of those
};

/// What ranges are called as phases (phase_name, rows.hpp), asked once for all that share a form.
struct PhaseNames {
  std::vector<std::uint32_t> by_form;  ///< by NameId: index in `texts`; timeline::none: no range has that form
  std::vector<std::string> texts;      ///< distinct
};

/// Thread: immutable after construction; share freely. Outlived by its Timeline.
struct RankView {
  const timeline::Timeline* timeline = nullptr;
  std::optional<Window> window;             ///< none: no GPU work
  std::vector<Step> steps;                  ///< all marked steps, by host begin
  std::vector<DeviceView> devices;          ///< with work inside the window
  std::vector<std::uint32_t> step_of_work;  ///< per Timeline::work: index in `steps`, or timeline::none
  std::array<KindTally, std::size(timeline::collectives)> kinds;  ///< by Collective
  std::array<CopyTally, 4> copies;                                ///< by Direction
  PhaseNames phase_names;
  bool opaque_graphs = false;  ///< a graph of which nothing inside is known runs in the window
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
