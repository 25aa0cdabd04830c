// For: TRACEWEIR_* variables that none of our programs reads: a misspelt key must not silently keep its default.
// Not for: reading those of the configuration (config.hpp).
#pragma once

namespace traceweir::app {

/// An event for each, for programs that run for long.
void log_misspelt_variables();
/// A line on stderr for each, for people who called a command.
void say_misspelt_variables();

}  // namespace traceweir::app
