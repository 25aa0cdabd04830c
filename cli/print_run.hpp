// For: a run and its verdict for a person at a terminal. Not for: deciding anything.
#pragma once

#include <string>

#include "cli/client.hpp"
#include "cli/terminal.hpp"
#include "server/wire/run_document.hpp"

namespace traceweir::cli {

/// The verdict first, then a row per rule (metric, value, baseline ± noise, delta, verdict), why, and what next.
std::string run_table(const wire::RunAnswer& run, const Client& client, report::Paint paint);

/// How far the ranks of a run of several uploads are, on one line.
std::string ranks_text(const wire::RunRanks& ranks);

/// The exit code of a judged run; a project that only observes always exits 0.
int exit_code_of(const wire::VerdictDocument& verdict, gate::Strictness strictness);

}  // namespace traceweir::cli
