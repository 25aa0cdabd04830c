// For: our own bugs. An assertion that fails ends the run that had it, in every build: it throws, which ends a process
// that does not catch it (the analysing child, the CLI) and is caught by the service's workers.
// Not for: anything that an input can cause; that is a Result (error.hpp) or a finding (finding.hpp).
#pragma once

namespace traceweir {

/// Prints the place and the condition on stderr and throws std::logic_error.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace traceweir

#define TRACEWEIR_ASSERT(condition)                                                  \
  do {                                                                               \
    if (!(condition)) ::traceweir::assertion_failed(#condition, __FILE__, __LINE__); \
  } while (false)
