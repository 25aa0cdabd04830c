// For: cutting the output of `nsys stats` into tables of cells: printed columns, CSV and JSON, any number of reports
// one after the other. Not for: what the cells mean (nsys_stats.cpp).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"

namespace traceweir::ingest {

/// Far more than any release prints.
inline constexpr std::size_t stats_tables_max = 1000, stats_columns_max = 100, stats_rows_max = 200'000;

/// One report. Shape: every row has as many cells as there are columns.
struct StatsTable {
  std::string report;  ///< `cuda_gpu_kern_sum`, under whatever name the release gives it; empty: not named in the text
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  bool skipped = false;  ///< nsys said that the capture has nothing of the kind
};

/// Whether the text begins like such output.
bool looks_like_nsys_stats(std::string_view head);

/// The name of 2023 and later for a report in `text` (a title, a path of a script, a file name); empty: none of those
/// that we read.
std::string_view stats_report_in(std::string_view text);

/// The tables in order. Lines outside of tables are passed over.
/// Errors: malformed_trace, with the line: a row with too few cells, JSON that is cut, more tables, columns or rows
///         than the limits above.
/// Cost:   O(text).
Result<std::vector<StatsTable>> stats_tables(std::string_view text);

}  // namespace traceweir::ingest
