// For: what a terminal can show. Not for: what is shown.
#pragma once

#include <cstddef>

#include "analyzer/report/report.hpp"

namespace traceweir::cli {

/// Colours only where a person sees them: stdout is a terminal, NO_COLOR is not set, TERM is not dumb.
report::Paint paint_of_stdout();

/// Whether a person reads stdout.
bool stdout_is_terminal();

/// Columns of the terminal; where stdout is none, what COLUMNS says; else 80. Between 24 and 500.
std::size_t columns_of_stdout();

/// Whether characters beyond ASCII can be shown: by LC_ALL, LC_CTYPE or LANG, the first that is set, and TERM.
bool shows_unicode();

/// Columns that a line may have: those of the terminal; 0, as many as it takes, where stdout is none.
std::size_t width_of_stdout();

}  // namespace traceweir::cli
