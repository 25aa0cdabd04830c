// For: what happened in a job, as a list of events that knows no file format. One list is written in every format, so
// two files of one job must measure the same, to the nanosecond.
// Not for: making the events (simulate.hpp) or measuring them (facts.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/make_trace/job.hpp"

namespace traceweir::make_trace {

enum class WorkKind { compute, allreduce, copy_h2d, copy_d2h };

/// One row of GPU work. Units: ns, bytes.
struct Work {
  Ns begin = 0;
  Ns end = 0;
  WorkKind kind = WorkKind::compute;
  std::string_view name;  ///< of kernels: the demangled name
  int stream = 0;
  std::int64_t correlation = 0;
  std::int64_t bytes = 0;     ///< of copies
  HostMemory host_memory{};   ///< of copies
  std::int64_t elements = 0;  ///< of all-reduces: 4-byte floats
  std::int64_t sequence = 0;  ///< of all-reduces: number in its group
  int step = 0;               ///< in which it was launched
};

/// A host API call. Names without a version tail; `version` is the tail that nsys writes.
struct Call {
  Ns begin = 0;
  Ns end = 0;
  std::string_view name;
  int version = 0;
  int thread = 0;  ///< index in Rank::threads
  std::int64_t correlation = 0;
  bool blocking = false;  ///< the host waits inside for the GPU
};

enum class RangeKind { step, phase, collective, op };

/// A host range: a training step (`name` is empty, `number` counts), a phase of the user, an all-reduce of NCCL, or an
/// operator of the framework (`number` counts).
struct Range {
  Ns begin = 0;
  Ns end = 0;
  RangeKind kind = RangeKind::phase;
  std::string_view name;
  int number = 0;
  int thread = 0;
};

/// Everything that one process did. One GPU per process.
struct Rank {
  int rank = 0;
  int pid = 0;
  std::vector<int> threads;  ///< ids: the main thread, then the autograd thread
  int device = 0;
  std::vector<Work> work;
  std::vector<Call> calls;
  std::vector<Range> ranges;
};

/// A job and its ranks. Shape: rows in order of the host's time.
struct Trace {
  Job job;
  std::vector<Rank> ranks;
};

/// The number in the name of the first step: profilers skip some steps before they record.
inline constexpr int first_step_number = 3;

}  // namespace traceweir::make_trace
