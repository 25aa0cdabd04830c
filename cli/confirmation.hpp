// For: running the profile again where a verdict waits for more runs of its commit (`--confirm-with`).
// Not for: sending what it wrote (sending.hpp).
#pragma once

#include <cstdint>
#include <string>

#include "analyzer/core/error.hpp"
#include "gate/verdict.hpp"

namespace traceweir::cli {

/// How many more runs of the commit the verdict's rules want; 0: none is waited for.
std::int64_t runs_wanted(const gate::Verdict& verdict);

/// Runs `command` by sh, with TRACEWEIR_CONFIRMATION set to `number` and no other variable of ours, so without the
/// token; what it prints goes to stderr.
/// Errors: usage: it cannot be run, or ended badly, with its exit code.
Result<void> profile_again(const std::string& command, std::int64_t number);

}  // namespace traceweir::cli
