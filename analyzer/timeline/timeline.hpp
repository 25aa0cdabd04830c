// For: what happened on one rank, in a form that no longer tells which format it came from.
// A Timeline is immutable; TimelineBuilder (builder.hpp) is the only way to make one.
// Not for: judging or measuring anything; the metrics room does that.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/finding.hpp"
#include "analyzer/core/metric.hpp"
#include "analyzer/core/time.hpp"
#include "analyzer/timeline/sums.hpp"

namespace traceweir::timeline {

/// Index of an interned name in Timeline::names. Distinct types, so that indices do not mix.
enum class NameId : std::uint32_t {};
/// Index in Timeline::devices.
enum class DeviceIndex : std::uint16_t {};
/// A host thread of this rank, in the order in which threads were first seen.
enum class ThreadIndex : std::uint32_t {};

/// What a GPU did. Source: spec of metrics, section 1.
enum class WorkKind : std::uint8_t {
  compute,  ///< a kernel that is no communication
  comm,     ///< a collective or point-to-point kernel, or a peer copy
  memory,   ///< a memcpy that is no peer copy, or a memset
  graph,    ///< one launch of a CUDA graph of which nothing inside is known
};

/// Which row of the trace it was. Peer copies are `memcpy` rows of kind comm.
enum class WorkSource : std::uint8_t { kernel, memcpy, memset, graph_launch };

/// The kind of a communication; `other` where neither metadata nor names tell.
enum class Collective : std::uint8_t {
  allreduce,
  allgather,
  reducescatter,
  broadcast,
  reduce,
  alltoall,
  sendrecv,
  other
};
inline constexpr Collective collectives[] = {Collective::allreduce, Collective::allgather, Collective::reducescatter,
                                             Collective::broadcast, Collective::reduce,    Collective::alltoall,
                                             Collective::sendrecv,  Collective::other};
std::string_view word(Collective kind);
std::optional<Collective> collective_of(std::string_view word);

/// Direction of a copy; `none` for memsets and host-to-host copies.
enum class Direction : std::uint8_t { none, h2d, d2h, d2d };
std::string_view word(Direction direction);

/// Kind of the host side of an h2d or d2h copy. Unified memory is `unknown`: it is neither.
enum class HostMemory : std::uint8_t { unknown, pageable, pinned };

/// One span of GPU work. Units: ns, bytes.
struct Work {
  Nanos begin;
  Nanos end;
  std::int64_t stream;    ///< the trace's own number
  std::int64_t bytes;     ///< moved by a copy or set by a memset; else 0
  NameId name;            ///< kernels: demangled name; copies and memsets: a name of ours ("Memcpy HtoD")
  std::uint32_t call;     ///< index in Timeline::calls of the launching call; `none`: not in the trace
  std::uint32_t message;  ///< index in Timeline::messages; `none`: no metadata
  std::uint32_t row;      ///< order in the file: the last tie-breaker
  DeviceIndex device;
  WorkKind kind;
  WorkSource source;
  Collective collective;   ///< of comm; `other` elsewhere
  Direction direction;     ///< of memory; `none` elsewhere
  HostMemory host_memory;  ///< of h2d and d2h

  [[nodiscard]] Interval span() const { return {begin, end}; }
};

/// What a collective's metadata say. Units: bytes as nccl-tests counts them (whole buffer). 0: the trace does not say.
struct Message {
  std::int64_t bytes = 0;                ///< S: message size of the call
  std::int64_t group_size = 0;           ///< n: ranks in the process group
  std::string dtype;                     ///< as the trace spells it; empty: unknown
  std::string group;                     ///< what tells one process group of the job from all others; empty: unknown
  std::optional<std::int64_t> sequence;  ///< `Seq` of the call in its group
  friend bool operator==(const Message&, const Message&) = default;
};

/// A call of the CUDA or HIP API by the host. Only calls that launch work, block or (de)allocate are kept.
struct Call {
  Nanos begin;
  Nanos end;
  NameId name;  ///< without version tail: `cudaLaunchKernel`
  ThreadIndex thread;
  bool blocking;   ///< synchronises, or a copy without `Async`
  bool allocates;  ///< device memory is allocated or freed

  [[nodiscard]] Interval span() const { return {begin, end}; }
};

/// A hardware counter of one device, sampled. Shape: samples in order of time; a long series may be thinned evenly.
struct CounterSample {
  Nanos at;
  double value;
};
struct Counter {
  std::string name;  ///< as the trace spells it, with its unit: `SMs Active [Throughput %]`
  DeviceIndex device;
  std::vector<CounterSample> samples;
};

/// What a range is called. A trace may name a million ranges once each, and nearly all of those names differ in numbers
/// alone: `aten::mul, op_id = 314`. What all of a kind share is stored once (`form`: each run of digits is a `0`), and
/// the digits in Timeline::numbers. Timeline::name() puts both together.
struct RangeName {
  static constexpr std::uint32_t no_numbers = 0xFFFFFFFFU;  ///< the form is the name, whatever digits are in it
  NameId form{};
  std::uint32_t numbers = no_numbers;  ///< where its digits begin
  friend bool operator==(const RangeName&, const RangeName&) = default;
};

/// How a reader saw a range. `step_only`: a range that can be a step or data loading, but is no phase of the user's
/// (operators of 2021 Kineto files).
enum class RangeKind : std::uint8_t { user, step_only };

/// A range that the user (or a framework) opened on a host thread.
struct Range {
  Nanos begin;
  Nanos end;
  RangeName name;
  ThreadIndex thread;
  RangeKind kind;

  [[nodiscard]] Interval span() const { return {begin, end}; }
};

/// How steps are called where the caller gives no pattern. Source: spec of metrics, section 1, "step".
enum class StepNaming : std::uint8_t { profiler_step, nvtx };

/// How CUDA graphs were traced. `none`: no graph was seen.
enum class GraphMode : std::uint8_t { none, graph, node, mixed };
std::string_view word(GraphMode mode);
std::optional<GraphMode> graph_mode_of(std::string_view word);

/// In place of an index: there is no such thing. Stands below the enumerations, whose own `none` it would shadow.
inline constexpr std::uint32_t none = 0xFFFFFFFFU;

/// One GPU of this rank that did work.
struct Device {
  std::int64_t ordinal;
  std::string gpu;  ///< product name; empty: unknown
};

/// Where the bytes came from. `sha256` and `name` are filled by whoever opened the file.
struct TraceSource {
  std::string format;       ///< `nsys_sqlite`, `kineto_json`
  std::string compression;  ///< `none`, `gzip`, `zstd`
  std::int64_t bytes = 0;   ///< of the file as it was given
  std::string producer;     ///< as the trace names it; empty: unknown
};

/// Facts that decide whether two runs are comparable. Empty: unknown. Never host, user, path or environment variables.
struct Environment {
  std::string driver;
  std::string cuda;
  std::string nccl;
  std::string framework;
};

/// Something odd that a reader or the builder met, counted, with up to 3 examples.
struct Oddity {
  std::int64_t count = 0;
  std::int64_t work = 0;  ///< of these, rows of GPU work that are missing for it (invalid_text only)
  std::vector<std::string> examples;
};

/// A value that the job measured itself and gave us to keep: `custom.NAME`, in the unit in which it was given.
struct StatedMetric {
  std::string id;
  Number value;
  Unit unit;
  Better better = Better::none;
};

/// Everything that is known of one rank.
///
/// Shape: `work` sorted by (begin, stream, row), without negative, zero-timestamp and duplicate rows; `calls` by begin;
///        `ranges` by (thread, begin, longest first). Indices inside are valid.
/// Thread: immutable after construction; share freely.
struct Timeline {
  TraceSource source;
  std::optional<std::int64_t> rank;        ///< as the trace states it
  std::optional<std::int64_t> world_size;  ///< as the trace states it
  Environment environment;
  GraphMode graph_mode = GraphMode::none;
  StepNaming step_naming = StepNaming::profiler_step;
  bool has_host_calls = false;  ///< whether the trace carries API calls at all
  std::vector<Device> devices;
  std::vector<std::string> names;
  std::string numbers;  ///< of names of ranges: runs of digits, each with a comma behind it
  std::vector<Work> work;
  std::vector<Message> messages;
  std::vector<Call> calls;
  std::vector<Range> ranges;
  std::vector<StatedMetric> stated;
  std::optional<Sums> sums;       ///< in place of work, where a trace has no more than that
  std::vector<Counter> counters;  ///< by (name, device)
  std::uint32_t thread_count = 0;
  std::map<FindingCode, Oddity> oddities;

  [[nodiscard]] const std::string& name(NameId id) const { return names[static_cast<std::size_t>(id)]; }
  [[nodiscard]] std::string name(RangeName range) const;
  [[nodiscard]] const Device& device(DeviceIndex index) const { return devices[static_cast<std::size_t>(index)]; }
};

}  // namespace traceweir::timeline
