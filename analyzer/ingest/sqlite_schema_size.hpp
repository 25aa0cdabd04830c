// For: how many rows a database's schema has, counted in its pages before SQLite parses it: its time to load a schema
// grows with the square of their number, in one step that no limit of its own interrupts.
// Not for: what the rows say (sqlite_file.hpp).
#pragma once

#include <cstdint>

#include "analyzer/core/error.hpp"

namespace traceweir::ingest {

/// Checks that the schema of the open database has at most `rows_max` rows.
/// Errors: malformed_trace (more, or its pages are no tree); io_failed.
/// Source: sqlite.org, "Database File Format", section 1.6.
/// Cost:   one read per page of the schema, until there are too many.
Result<void> check_schema_size(int descriptor, std::int64_t rows_max);

}  // namespace traceweir::ingest
