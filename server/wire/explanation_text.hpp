// For: explanations for people: lines of a terminal, and Markdown of a job summary. Shared by service and client.
// Not for: JSON (explanation_json.hpp), colours.
#pragma once

#include <string>

#include "gate/verdict.hpp"
#include "server/wire/diff.hpp"

namespace traceweir::wire {

/// Sentence and rows. Shape: lines, each ended; empty names, phases and notes leave nothing behind.
std::string to_text(const gate::Explanation& explanation);
/// Every explanation of a verdict with the facts beside them; empty where it has none.
std::string explanations_text(const gate::Verdict& verdict);
/// Summary, changed metrics, explanations, facts.
std::string to_text(const DiffDocument& document);

/// The same as Markdown; names of the trace are escaped.
std::string to_markdown(const gate::Explanation& explanation);
std::string explanations_markdown(const gate::Verdict& verdict);
std::string to_markdown(const DiffDocument& document);

}  // namespace traceweir::wire
