// For: making a Timeline. A reader adds rows in any order as it finds them; the builder interns, joins launches to
// work, drops what the contract leaves out (and counts it), sorts once. Not for: format knowledge. A reader translates
// its rows into these.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/timeline/timeline.hpp"

namespace traceweir::timeline {

/// A row of GPU work as a reader knows it. Correlation ids <= 0 mean none.
struct WorkRow {
  Interval span;
  DeviceIndex device{};
  std::int64_t stream = 0;
  std::int64_t correlation = 0;
  NameId name{};
  WorkKind kind = WorkKind::compute;
  WorkSource source = WorkSource::kernel;
  Collective collective = Collective::other;
  Direction direction = Direction::none;
  HostMemory host_memory = HostMemory::unknown;
  std::int64_t bytes = 0;
  std::uint32_t message = none;  ///< what TimelineBuilder::message returned
};

/// A row of a host API call. `name` may carry a version tail (`_v7000`) or `_ptsz`/`_ptds`: the builder strips them and
/// knows from the name whether the call blocks or allocates.
struct CallRow {
  Interval span;
  std::int64_t thread = 0;  ///< the trace's own thread id
  std::int64_t correlation = 0;
  std::string_view name;
};

/// A row of a host range.
struct RangeRow {
  Interval span;
  std::int64_t thread = 0;
  RangeName name{};
  RangeKind kind = RangeKind::user;
};

/// A sample of a hardware counter. Of one series they may come in any order.
struct SampleRow {
  Nanos at;
  std::uint32_t counter = none;  ///< what TimelineBuilder::counter returned
  double value = 0;
};

/// Counters of one rank, each on each device; what is beyond is left out and counted.
inline constexpr std::size_t counters_max = 1024;
/// Samples of one rank. Where there are more, every second is dropped, evenly over each series, as often as needed.
inline constexpr std::size_t samples_max = std::size_t{1} << 22;

/// Collects the rows of one rank (one process).
/// Thread: one at a time.
class TimelineBuilder {
 public:
  TimelineBuilder();
  ~TimelineBuilder();
  TimelineBuilder(TimelineBuilder&&) noexcept;
  TimelineBuilder& operator=(TimelineBuilder&&) noexcept;

  /// The id of `text`, which is stored cleaned (core/text.hpp). Cost: a hash look-up on the raw bytes.
  NameId name(std::string_view text);
  /// The same for a range. Cost: O(n); a hash look-up of what its numbers leave.
  RangeName range_name(std::string_view text);

  /// The device with this ordinal; two ordinals with one non-empty uuid are one device (the first ordinal seen).
  DeviceIndex device(std::int64_t ordinal, std::string_view uuid = {});

  /// Names the GPU of a device; an empty name changes nothing.
  void set_gpu(DeviceIndex device, std::string_view gpu);

  /// Stores metadata of a collective; equal ones share an index.
  std::uint32_t message(const Message& message);

  /// The counter of this name on a device; `none`: one too many.
  std::uint32_t counter(std::string_view name, DeviceIndex device);

  void add(const WorkRow& row);
  void add(const CallRow& row);
  void add(const RangeRow& row);
  void add(const SampleRow& row);

  /// Says that all work was added, but for that with one of these correlations. From now on calls that launched nothing
  /// are left out as they come, which finish() would do. Cost: O(work).
  void expect_calls_of(std::span<const std::int64_t> later_work);

  /// Counts an oddity, with an example for a person (cleaned; the first 3 are kept; empty: none).
  void note(FindingCode code, std::string_view example = {}, std::int64_t count = 1);

  /// Counts rows of GPU work that could not be used, as invalid_text: where they are many, no ratio is to be trusted.
  void drop_work(std::string_view example, std::int64_t count = 1);

  /// Facts about the trace, to be set by the reader at any time before finish().
  TraceSource source;
  Environment environment;
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> world_size;
  GraphMode graph_mode = GraphMode::none;
  StepNaming step_naming = StepNaming::profiler_step;
  bool has_host_calls = false;
  std::vector<StatedMetric> stated;
  std::optional<Sums> sums;

  [[nodiscard]] bool has_work() const;

  /// The Timeline of all rows added. The builder is empty afterwards.
  /// Drops and counts: rows with end < start (negative_duration), exact duplicates of work (duplicate_events: device,
  /// stream, begin, end, name, correlation), work with begin = end = 0 (zero_timestamps), rows with a time beyond
  /// ±2^62 ns and work of more than 4096 devices, samples that are no number
  /// and those of more than counters_max counters (invalid_text). Samples of devices without work are dropped. Counts
  /// orphan_kernels, where has_host_calls: any work without a launching call. Shape: the difference of any two times is
  /// a valid Nanos; sums of many are not bounded. Cost: O(n log n) where rows come unsorted, else O(n).
  Timeline finish() &&;

 private:
  struct Rows;
  std::unique_ptr<Rows> rows_;
};

/// `cudaMemcpyAsync` of `cudaMemcpyAsync_v3020_ptsz`. Shape: a part of `name`.
std::string_view api_name(std::string_view name);

/// Whether the host waits inside this call: device, context, stream or event synchronise, or a copy without `Async`.
/// Source: spec of metrics, section 5 (sync.time_per_step).
bool is_blocking_call(std::string_view api_name);

/// Whether this call allocates or frees device memory. Source: spec of metrics, section 5 (alloc.count_per_step).
bool is_allocation_call(std::string_view api_name);

}  // namespace traceweir::timeline
