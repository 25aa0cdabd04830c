// For: what a person is shown of a report, in which order and words, before it is laid out for a terminal or as
// Markdown. Not for: layout, colours and escaping (table, markdown).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/report/report.hpp"

namespace traceweir::report {

/// Rows of texts under a head. Shape: every row has as many cells as the head.
struct Grid {
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
  std::size_t left_columns = 1;  ///< the first ones are names, set flush left; the others are numbers
};

/// A share of the window, drawn as a bar.
struct Figure {
  std::string label;
  std::string metric;
  std::optional<double> share;  ///< nothing: not measured
  std::string note;             ///< why it was not measured; of idle time: its causes
};

/// A named group of facts.
using Facts = std::vector<std::pair<std::string, std::string>>;

/// `rank 0 of 2`.
std::string rank_title(const RankReport& rank);
Facts rank_facts(const RankReport& rank);

/// Utilization, compute, exposed communication and copies, idle.
std::vector<Figure> figures(const RankReport& rank);

/// As many rows as a person is shown.
inline constexpr std::size_t idle_rows_max = 6;
inline constexpr std::size_t kernel_rows_max = 10;

/// Idle time by cause and phase, the longest first, at most `rows_max`.
Grid idle_grid(const RankReport& rank, std::size_t rows_max);

/// One row per kind of communication that was measured.
Grid communication_grid(const RankReport& rank);

/// Steps, copies and the host's part, as far as measured.
Facts other_facts(const RankReport& rank);

Grid kernel_grid(const RankReport& rank, std::size_t rows_max);

/// A metric per row with mean, least and greatest rank. For runs of several ranks.
Grid run_grid(const Report& report);

/// `input_bound (warning): 42.1 % …`: what was seen in numbers; the advice is the finding's own.
std::string evidence_text(const Finding& finding);

/// What was not measured, by reason in words; a family that is missing as a whole is `allgather.*`.
Facts not_measured_facts(const RankReport& rank);

}  // namespace traceweir::report
