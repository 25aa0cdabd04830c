// For: writing a rank of a Trace as torch.profiler does (Kineto JSON: object with traceEvents, microseconds with three
// decimals, relative to baseTimeNanoseconds). Not for: several ranks in one file; such files do not exist.
#pragma once

#include <filesystem>

#include "tools/make_trace/trace.hpp"

namespace traceweir::make_trace {

/// `plain`: an event a line, kind after kind, so that a person can read and cut the file. `profiler`: the lines, the
/// order and the arrows of libkineto, so that a file costs its readers what a profiler's file costs them.
enum class KinetoStyle { plain, profiler };

/// Writes `rank` of `job`. Throws std::runtime_error where the file cannot be written.
/// Source: libkineto output_json, schemaVersion 1; argument names as in real files of 2024.
void write_kineto(const Job& job, const Rank& rank, const std::filesystem::path& file,
                  KinetoStyle style = KinetoStyle::plain);

}  // namespace traceweir::make_trace
