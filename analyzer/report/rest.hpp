// For: cutting the lists of a report so that it stays below report_bytes_for(ranks), without losing a nanosecond: what
// is cut is added up in `rest` rows. Not for: choosing what is measured.
#pragma once

#include <cstddef>
#include <string_view>

#include "analyzer/report/report.hpp"

namespace traceweir::report {

/// The name of a row that stands for several: of kernels, phases and breakdown terms.
inline constexpr std::string_view rest_word = "rest";

/// How many rows each list of a rank keeps, `rest` rows not counted.
struct ListLimits {
  std::size_t kernels = 200;
  std::size_t terms = 200;  ///< compute, idle and exposed_comm terms together
  std::size_t collectives = 100;
  std::size_t phases = 100;
  std::size_t steps = metrics::step_values_max;
};

/// So many kernels stay as long as any other list can still be cut. Source: spec of metrics, section 9.
inline constexpr std::size_t kernels_kept_min = 50;

/// Devices of one rank that are listed one by one. More GPUs than a process has; the sums are over all.
inline constexpr std::size_t devices_listed_max = 64;

/// Cuts every list of `rank` to its limit. Cutting twice is cutting once to the smaller limit.
///
/// kernels, phases:  the rest is one row named `rest`.
/// breakdown:        idle is added up by cause (phase `rest`), compute in one row `rest`, exposed communication by kind
///                   in the row of unknown size; copies and graphs are never cut.
/// collectives:      added up by kind in the row of unknown size.
/// steps:            every n-th is kept, evenly; the first always.
void cut_lists(RankReport& rank, const ListLimits& limits);

/// Matched calls of the run: as a rank's collectives.
void cut_matched(std::vector<metrics::MatchedRow>& rows, std::size_t limit);

/// Cuts the lists of all ranks evenly (more than 8 ranks share what 8 have) until the report fits into
/// report_bytes_for(ranks), or nothing is left to cut.
void fit(Report& report);

}  // namespace traceweir::report
