// For: which ranks can be ranks of one run. Not for: their numbers (report.cpp, merge.cpp).
#pragma once

#include <span>

#include "analyzer/core/error.hpp"
#include "analyzer/report/report.hpp"

namespace traceweir::report {

/// Values that a job states (custom.NAME) are comparable with each other and never with traces: side by side each would
/// be a rank that lacks what the other has, and no rule could be judged.
/// Errors: usage, naming one rank of either kind and what to do.
Result<void> check_kinds(std::span<const RankReport> ranks);

}  // namespace traceweir::report
