// For: the tables of GPU work of an export: kernels, copies, memsets, graph launches.
// Not for: host rows (nsys_host.hpp).
#pragma once

#include "analyzer/core/error.hpp"
#include "analyzer/ingest/nsys_facts.hpp"
#include "analyzer/ingest/nsys_processes.hpp"
#include "analyzer/ingest/nsys_strings.hpp"
#include "analyzer/ingest/sqlite_file.hpp"

namespace traceweir::ingest::nsys {

/// Adds every row of GPU work to its process. Kernels of NCCL whose name tells no collective are kept back in
/// Process::unnamed.
/// Shape:  a row with a value of the wrong type is dropped and counted (invalid_text).
/// Errors: malformed_trace, io_failed.
Result<void> read_work(SqliteFile& file, const Gpus& gpus, Strings& strings, Processes& processes);

}  // namespace traceweir::ingest::nsys
