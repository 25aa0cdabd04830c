// For: writing a rank of a Trace as torch.profiler does (Kineto JSON: object with traceEvents, microseconds with three
// decimals, relative to baseTimeNanoseconds). Not for: several ranks in one file; such files do not exist.
#pragma once

#include <filesystem>

#include "tools/make_trace/trace.hpp"

namespace traceweir::make_trace {

/// Writes `rank` of `job`. Throws std::runtime_error where the file cannot be written.
/// Source: libkineto output_json, schemaVersion 1; argument names as in real files of 2024.
void write_kineto(const Job& job, const Rank& rank, const std::filesystem::path& file);

}  // namespace traceweir::make_trace
