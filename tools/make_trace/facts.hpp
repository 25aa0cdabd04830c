// For: the truth about a trace, worked out from its events by counting, without any code of the analyzer: what tests
// compare the analyzer with. Definitions: docs/metrics.md.
// Not for: metrics of several ranks together.
#pragma once

#include <cstdint>
#include <string>

#include "tools/make_trace/trace.hpp"

namespace traceweir::make_trace {

/// The truth about one rank's window. Units: ns, bytes, counts.
struct Facts {
  int rank = 0;
  int device = 0;
  std::string window_kind;  ///< `steps` or `span`
  Ns window_begin = 0;      ///< on the job's clock
  Ns window = 0;
  int steps = 0;  ///< whole periods in a `steps` window; 0 in a `span`

  // Unions, cut to the window. compute + exposed_comm + exposed_memory + idle = window.
  Ns compute = 0;
  Ns comm = 0;
  Ns memory = 0;
  Ns exposed_comm = 0;
  Ns exposed_memory = 0;
  Ns idle = 0;
  Ns comm_overlap = 0;  ///< comm covered by compute
  Ns h2d = 0;
  Ns sync = 0;  ///< host time in blocking calls

  // What starts in the window, uncut.
  int kernels = 0;  ///< compute and communication
  int allreduces = 0;
  Ns allreduce_total = 0;
  Ns allreduce_max = 0;
  int h2d_copies = 0;
  std::int64_t h2d_bytes = 0;
  std::int64_t d2h_bytes = 0;
  std::int64_t pageable_bytes = 0;
  int syncs = 0;
};

/// Shape: all zero where the rank did no GPU work.   Cost: O(n log n).
Facts facts_of(const Rank& rank);

/// One line of JSON about every rank in `trace` that was written: its facts, and how many rows it has of what.
std::string facts_json(const Trace& trace, const std::string& file);

}  // namespace traceweir::make_trace
