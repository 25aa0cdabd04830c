// For: a run and its verdict for a person at a terminal: the verdict first, then a row per rule, why, and what next.
// Pure: the same values give the same text. Not for: deciding anything.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "analyzer/report/report.hpp"
#include "server/wire/run_document.hpp"

namespace traceweir::cli {

/// What the text is for. `width`: columns of the terminal, 0: as many as it takes. `address`: what the service's paths
/// begin with, for the link; empty: none.
struct Screen {
  report::Paint paint = report::Paint::plain;
  std::size_t width = 0;
  std::string address;
};

/// Shape: lines no longer than the screen is wide (a single word may be): columns that matter least are left out,
/// sentences are wrapped. Lists are cut after rows_max rows, which is said.
std::string run_table(const wire::RunAnswer& run, const Screen& screen);
inline constexpr std::size_t rows_max = 60;

/// How far the ranks of a run of several uploads are, on one line.
std::string ranks_text(const wire::RunRanks& ranks);

}  // namespace traceweir::cli
