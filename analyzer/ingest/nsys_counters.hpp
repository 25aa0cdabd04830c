// For: hardware counters that Nsight Systems sampled (`--gpu-metrics-devices`), as series of the devices that did work.
// Not for: what they mean; names and values stay as they are.
#pragma once

#include "analyzer/core/error.hpp"
#include "analyzer/ingest/nsys_facts.hpp"
#include "analyzer/ingest/nsys_processes.hpp"
#include "analyzer/ingest/sqlite_file.hpp"

namespace traceweir::ingest::nsys {

/// Adds the samples of GPU_METRICS to every process that did work on the sampled GPU. The GPU's number on its machine
/// is the low byte of typeId.
/// Errors: malformed_trace, io_failed.   Source: spec of formats, section 1.3.
Result<void> read_counters(SqliteFile& file, const Gpus& gpus, Processes& processes);

}  // namespace traceweir::ingest::nsys
