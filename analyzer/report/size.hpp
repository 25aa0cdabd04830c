// For: whether a report is small without writing it, as nearly all are. Not for: how large it is (to_json).
#pragma once

#include <cstddef>

#include "analyzer/report/report.hpp"

namespace traceweir::report {

/// Bytes that the report's JSON (one line) does not exceed; several times what it is.   Cost: O(rows), little beside
/// writing it.
std::size_t json_bytes_at_most(const Report& report);

}  // namespace traceweir::report
