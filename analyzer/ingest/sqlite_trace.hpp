// For: SQLite databases of profilers: opening them as a stranger's file, and which reader their tables ask for.
// Not for: what the tables mean (nsys_sqlite.hpp, rocpd_sqlite.hpp).
#pragma once

#include <vector>

#include "analyzer/core/error.hpp"
#include "analyzer/ingest/trace_input.hpp"
#include "analyzer/timeline/timeline.hpp"

namespace traceweir::ingest {

/// Reads a database; a compressed one is unpacked first, since SQLite seeks. The file is the enemy's: it is opened
/// read-only and immutable, without views, triggers, virtual tables or functions.
/// Shape:  as the reader's; TraceSource::format is `nsys_sqlite` or `rocpd_sqlite`.
/// Errors: not_a_trace (a database of something else), unsupported_format (a file that is still in WAL mode; a rocpd
///         database that we do not read), malformed_trace (damaged, or a table that is no plain table),
///         trace_too_large, io_failed.
/// Thread: several at once are safe; the heap limit of SQLite that it sets is the whole process's.
Result<std::vector<timeline::Timeline>> read_sqlite_trace(TraceInput& input);

}  // namespace traceweir::ingest
