// For: a verdict as annotations of GitHub Actions: lines that its runner reads (`::error title=…::…`).
// Not for: other CIs, which read JUnit.
#pragma once

#include <string>
#include <string_view>

#include "server/wire/run_document.hpp"

namespace traceweir::wire {

/// GitHub shows this many of each kind per step.
inline constexpr std::size_t annotations_max = 10;

/// A line per rule that is not passed, the worst first: error for fail, warning for warn and inconclusive, notice while
/// learning. One line where there is no verdict.
/// Shape: escaped by GitHub's rules: no text can begin a command of its own.
/// Source: actions/toolkit, packages/core/src/command.ts.
std::string github_annotations(const RunAnswer& run, std::string_view address);

/// Text for the log of a GitHub job in which no line can be taken for a command of the runner (`::…` at the beginning
/// of a line, `##[…` anywhere).
std::string inert_for_runner(std::string_view text);

}  // namespace traceweir::wire
