// For: what the host did: API calls and NVTX ranges of the processes with GPU work.
// Not for: processes without; a launcher or a data loader is no rank.
#pragma once

#include "analyzer/core/error.hpp"
#include "analyzer/ingest/nsys_processes.hpp"
#include "analyzer/ingest/nsys_strings.hpp"
#include "analyzer/ingest/sqlite_file.hpp"

namespace traceweir::ingest::nsys {

/// Adds API calls. Rows of eventClass 67 repeat calls with their call stack and are left out.
/// Errors: malformed_trace, io_failed.
Result<void> read_calls(SqliteFile& file, const Strings& strings, Processes& processes);

/// Adds push/pop and start/end ranges as ranges of the user, except those of NCCL, which go to Process::nccl_ranges.
/// Shape:  ranges without an end are dropped and counted (open_range).
/// Errors: malformed_trace, io_failed.
Result<void> read_ranges(SqliteFile& file, const Strings& strings, Processes& processes);

/// Gives the kernels kept in Process::unnamed the kind of the NCCL range around their launch, and adds them.
/// Cost: O(n log n).
void name_collectives(Process& process);

}  // namespace traceweir::ingest::nsys
