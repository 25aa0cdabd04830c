// For: what a terminal can show. Not for: what is shown.
#pragma once

#include "analyzer/report/report.hpp"

namespace traceweir::cli {

/// Colours only where a person sees them: stdout is a terminal, NO_COLOR is not set, TERM is not dumb.
report::Paint paint_of_stdout();

}  // namespace traceweir::cli
