// For: what must hold for any bytes that somebody uploads: they are refused with a reason or read, and what was read
// can be measured, written, and read back. Not for: what the measurements are (golden, property).
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"
#include "analyzer/ingest/trace_input.hpp"
#include "analyzer/report/report.hpp"
#include "analyzer/timeline/timeline.hpp"

namespace traceweir::fuzz {

using Reader = std::function<Result<std::vector<timeline::Timeline>>(ingest::TraceInput&)>;

enum class Answer { read, refused };

/// Reads `bytes` with `reader` as the analysing child does, and checks the promises of reader, measuring and report.
/// Shape: a broken promise ends the process (TRACEWEIR_ASSERT).
Answer check_upload(std::string_view bytes, const Reader& reader);

/// The report can be shown, written within its size, and read back as the same.
void check_report(const report::Report& report);

/// A refusal is a sentence in clean UTF-8, and short.
void check_refusal(const Error& error);

}  // namespace traceweir::fuzz
