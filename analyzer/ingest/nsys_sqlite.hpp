// For: exports of Nsight Systems (`nsys export --type sqlite`), told by their tables and not by their version.
// Not for: deciding what a collective's name means (collectives.hpp) or joining calls to work (TimelineBuilder).
#pragma once

#include <vector>

#include "analyzer/core/error.hpp"
#include "analyzer/ingest/sqlite_file.hpp"
#include "analyzer/timeline/timeline.hpp"

namespace traceweir::ingest {

/// Reads an export. Every value is taken for what it is, not for what its column declares.
/// Shape:  one Timeline per process with GPU work, in the order of (smallest device ordinal, pid); without any, one
///         Timeline without work. Rank numbers are not stated.
/// Errors: not_a_trace (a database of something else; says of what), unsupported_format (a rocpd database in a layout
///         that is not known), malformed_trace, io_failed.
/// Source: Nsight Systems export schemas up to 3.25; spec of formats, section 1; docs/formats/nsys.md.
/// Cost:   one pass per table; memory grows with the rows of work, calls and ranges.
Result<std::vector<timeline::Timeline>> read_nsys_sqlite(SqliteFile& db);

}  // namespace traceweir::ingest
