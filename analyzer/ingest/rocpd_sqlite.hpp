// For: rocpd databases of rocprofv3 (`--output-format rocpd`), in both layouts of their rows.
// Not for: the databases of rocprof 1 and of rocmProfileData, which have other tables.
#pragma once

#include <vector>

#include "analyzer/core/error.hpp"
#include "analyzer/ingest/sqlite_file.hpp"
#include "analyzer/timeline/timeline.hpp"

namespace traceweir::ingest {

/// Reads a database. Every value is taken for what it is, not for what its column declares.
/// Shape:  one Timeline per process with GPU work, in the order of (smallest GPU, process); without any, one Timeline
///         without work. Rank numbers are not stated.
/// Errors: unsupported_format (several captures merged into one database), malformed_trace, io_failed.
/// Source: ROCm/rocprofiler-sdk, source/share/rocprofiler-sdk-rocpd/*.sql; docs/formats/rocpd.md.
/// Cost:   one pass per table, a look-up per row; memory grows with all rows of events and times.
Result<std::vector<timeline::Timeline>> read_rocpd_sqlite(SqliteFile& db);

}  // namespace traceweir::ingest
