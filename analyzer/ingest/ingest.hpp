// For: the door of the analyzer. A file goes in, one Timeline per rank comes out.
// Not for: measuring. After this nobody asks which format it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "analyzer/core/error.hpp"
#include "analyzer/timeline/timeline.hpp"

namespace traceweir::ingest {

class TraceInput;

/// What one trace may cost. Every limit is enforced and named in the error that it causes.
struct ReadLimits {
  std::uint64_t inflated_bytes_max = std::uint64_t{16} << 30;  ///< bytes after decompression, counted over all members
  double inflate_ratio_max = 200;                              ///< inflated : compressed, checked past the first MiB
  std::size_t threads = 0;                                     ///< that parse one trace; 0: as many as there are cores
};

/// Reads any trace that we know, told by its content alone.
/// Shape:  one Timeline per process that did GPU work (at least one: a trace without GPU work is one rank without
/// work).
///         nsys: in the order of (smallest device ordinal, pid).
/// Errors: empty_upload, unknown_format, not_a_trace, unsupported_format, malformed_trace, trace_too_large, io_failed;
///         the message says what was found and what to do.
/// Thread: reentrant.
Result<std::vector<timeline::Timeline>> read_trace(const std::filesystem::path& file, const ReadLimits& limits = {});

/// The same of a trace that is open already: a file or a pipe (trace_input.hpp).
/// Errors: as above, disk_full (no room to unpack a compressed database).
Result<std::vector<timeline::Timeline>> read_trace(TraceInput& input);

}  // namespace traceweir::ingest
