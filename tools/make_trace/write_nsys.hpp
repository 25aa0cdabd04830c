// For: writing a Trace as `nsys export --type sqlite` does. Several ranks in one file are several processes, as when
// nsys profiles a launcher. Not for: .nsys-rep files.
#pragma once

#include <filesystem>

#include "tools/make_trace/trace.hpp"

namespace traceweir::make_trace {

/// Writes the ranks of `trace`, replacing `file`. Throws std::exception where it cannot be written.
/// Source: schema 3.16 (nsys_schema.hpp).
void write_nsys(const Trace& trace, const std::filesystem::path& file);

}  // namespace traceweir::make_trace
