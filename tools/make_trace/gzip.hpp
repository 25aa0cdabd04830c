// For: compressing a written file, as profilers do with .json.gz. Not for: reading.
#pragma once

#include <filesystem>

namespace traceweir::make_trace {

/// Replaces the bytes of `file` by one gzip member of them. Throws std::runtime_error.
void gzip_in_place(const std::filesystem::path& file);

}  // namespace traceweir::make_trace
