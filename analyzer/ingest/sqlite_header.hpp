// For: what the first 100 bytes of a SQLite database tell before SQLite sees it.
// Not for: anything that SQLite checks itself.
#pragma once

#include <cstdint>
#include <filesystem>

#include "analyzer/core/error.hpp"

namespace traceweir::ingest {

/// The size of the open database, if its header is sound and its writer has closed it.
/// Units:  bytes.
/// Errors: io_failed; malformed_trace (not a database, or cut off); unsupported_format (in WAL mode: what is
///         missing there would be missing silently).
/// Source: sqlite.org, "Database File Format", section 1.3.
Result<std::uint64_t> check_sqlite_header(int descriptor);

/// Whether a journal with anything in it lies beside the database at `path`. None can beside a descriptor.
/// Errors: unsupported_format.
Result<void> check_journals(const std::filesystem::path& path);

}  // namespace traceweir::ingest
