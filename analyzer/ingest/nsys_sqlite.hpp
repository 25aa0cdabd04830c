// For: exports of Nsight Systems (`nsys export --type sqlite`), told by their tables and not by their version.
// Not for: deciding what a collective's name means (collectives.hpp) or joining calls to work (TimelineBuilder).
#pragma once

#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"
#include "analyzer/ingest/trace_input.hpp"
#include "analyzer/timeline/timeline.hpp"

namespace traceweir::ingest {

/// Whether a file begins as an SQLite database does; which database it is only its tables tell.
bool is_nsys_sqlite(std::string_view head);

/// Reads an export; a compressed one is unpacked first, since SQLite seeks. The file is the enemy's: it is opened
/// read-only and immutable, without views, triggers, virtual tables or functions, and every value is taken for what it
/// is, not for what its column declares. Shape:  one Timeline per process with GPU work, in the order of (smallest
/// device ordinal, pid); without any, one
///         Timeline without work. Rank numbers are not stated.
/// Errors: not_a_trace (a database of something else; says of what), unsupported_format (a rocpd database; a file that
///         is still in WAL mode), malformed_trace (damaged, or a table that is no plain table), io_failed.
/// Source: Nsight Systems export schemas up to 3.25; spec of formats, section 1; docs/formats/nsys.md.
/// Cost:   one pass per table; memory grows with the rows of work, calls and ranges.
/// Thread: several at once are safe; the heap limit of SQLite that it sets is the whole process's.
Result<std::vector<timeline::Timeline>> read_nsys_sqlite(TraceInput& input);

}  // namespace traceweir::ingest
