// For: the output of `nsys stats` (printed, CSV, JSON): sums of durations by kernel and by kind of copy, and the sizes
// of copies. Not for: exports with spans (nsys_sqlite.hpp), which tell much more.
#pragma once

#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"
#include "analyzer/ingest/trace_input.hpp"
#include "analyzer/timeline/timeline.hpp"

namespace traceweir::ingest {

inline constexpr std::size_t stats_bytes_max = std::size_t{64} << 20;

/// One rank of which only sums are known.
/// Units:  from the column's head (ns, us, ms, s; B, KB, KiB, MB, MiB, GB, GiB); `Total` without a unit is KiB (2020
/// and
///         2021). Numbers may have separators of thousands and a decimal comma.
/// Shape:  reports that we do not measure from (API, OS runtime, NVTX, …) are passed over.
/// Errors: malformed_trace, with the table and the cell; not_a_trace (no table of kernels or copies); those of
/// open_bytes. Source: the printed outputs of nsys 2020.3 to 2026.1 (docs/formats/nsys_stats.md).
Result<std::vector<timeline::Timeline>> read_nsys_stats(TraceInput& input);

}  // namespace traceweir::ingest
