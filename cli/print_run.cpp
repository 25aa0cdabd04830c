#include "cli/print_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <vector>

#include "analyzer/core/text.hpp"
#include "analyzer/report/quantities.hpp"
#include "cli/text_layout.hpp"
#include "server/wire/explanation_text.hpp"
#include "server/wire/rule_cells.hpp"

namespace traceweir::cli {
namespace {

struct Colour {
  std::string_view outcome, code;
};
constexpr Colour colours[] = {{"pass", "32"}, {"warn", "33"}, {"inconclusive", "36"}, {"fail", "31"}};

std::string painted(std::string_view outcome, std::string_view text, report::Paint paint) {
  if (paint == report::Paint::plain) return std::string(text);
  for (const Colour& colour : colours)
    if (colour.outcome == outcome) return fmt::format("\x1b[1;{}m{}\x1b[0m", colour.code, text);
  return std::string(text);
}

using Cells = std::vector<std::string>;

/// A column of the table. Where there is no room, those with the highest `spare` are left out first; 0 stays.
struct Column {
  const char* head;
  std::string (*of)(const wire::RuleCells& cells);
  int spare;
};
constexpr Column columns[] = {
    {"metric", [](const wire::RuleCells& c) { return c.metric; }, 0},
    {"value", [](const wire::RuleCells& c) { return c.value; }, 0},
    {"baseline", [](const wire::RuleCells& c) { return c.baseline; }, 1},
    {"runs", [](const wire::RuleCells& c) { return c.runs.substr(0, c.runs.find(' ')); }, 4},
    {"change", [](const wire::RuleCells& c) { return c.delta; }, 0},
    {"tolerance", [](const wire::RuleCells& c) { return c.tolerance; }, 3},
    {"verdict", [](const wire::RuleCells& c) { return c.outcome; }, 0},
    {"why", [](const wire::RuleCells& c) { return c.reason; }, 2},
};
constexpr int spare_max = 4;
constexpr std::size_t gap = 2;

struct Table {
  std::vector<const Column*> shown;
  std::vector<Cells> rows;  ///< the first is the head
  std::vector<std::size_t> widths;
};

Table table_of(const std::vector<wire::RuleCells>& rules, int spare_from) {
  Table table;
  for (const Column& column : columns) {
    const bool says_something = std::any_of(rules.begin(), rules.end(), [&](const wire::RuleCells& rule) {
      const std::string cell = column.of(rule);
      return !cell.empty() && cell != "-";
    });
    if (column.spare < spare_from && (says_something || column.spare == 0)) table.shown.push_back(&column);
  }
  table.rows.emplace_back();
  for (const Column* column : table.shown) table.rows.front().emplace_back(column->head);
  for (const wire::RuleCells& rule : rules) {
    table.rows.emplace_back();
    for (const Column* column : table.shown) table.rows.back().push_back(column->of(rule));
  }
  table.widths.assign(table.shown.size(), 0);
  for (const Cells& row : table.rows)
    for (std::size_t i = 0; i < row.size(); ++i) table.widths[i] = std::max(table.widths[i], report::width_of(row[i]));
  return table;
}

std::size_t width_of(const Table& table) {
  std::size_t width = gap;
  for (const std::size_t column : table.widths) width += column + gap;
  return width - gap;
}

/// Metrics are cut last: their names tell what the row is about.
void fit_metrics(Table& table, std::size_t width) {
  constexpr std::size_t metric_cells_min = 16;
  const std::size_t excess = width_of(table) - std::min(width_of(table), width);
  if (width == 0 || excess == 0) return;
  const std::size_t room = std::max(metric_cells_min, table.widths[0] - std::min(table.widths[0], excess));
  for (Cells& row : table.rows) row[0] = report::shortened(row[0], room);
  table.widths[0] = std::min(table.widths[0], room);
}

std::string text_of(const Table& table, report::Paint paint) {
  std::string text;
  for (const Cells& row : table.rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string cell = padded(row[i], table.widths[i]);
      const bool verdict = std::string_view(table.shown[i]->head) == "verdict";
      line += std::string(gap, ' ') + (verdict ? painted(row[i], cell, paint) : cell);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string rules_text(const gate::Verdict& verdict, const Screen& screen) {
  std::vector<wire::RuleCells> rules;
  std::string elsewhere;
  for (const gate::RuleResult& rule : verdict.rules) {
    if (!rule.outcome) elsewhere += (elsewhere.empty() ? "" : ", ") + clean_text(rule.metric, 80);
    if (rule.outcome && rules.size() < rows_max) rules.push_back(wire::cells_of(rule));
  }
  std::string text;
  if (!rules.empty()) {
    int spare = spare_max + 1;
    Table table = table_of(rules, spare);
    while (screen.width > 0 && spare > 1 && width_of(table) > screen.width) table = table_of(rules, --spare);
    fit_metrics(table, screen.width);
    text += "\n" + text_of(table, screen.paint);
  }
  const auto judged =
      static_cast<std::size_t>(std::count_if(verdict.rules.begin(), verdict.rules.end(),
                                             [](const gate::RuleResult& rule) { return rule.outcome.has_value(); }));
  if (judged > rules.size()) text += fmt::format("  … and {} more\n", judged - rules.size());
  if (!elsewhere.empty()) text += wrapped("  not applicable: ", clean_text(elsewhere, 400), screen.width);
  return text;
}

/// Why it changed: the rows of each explanation keep their columns, sentences are wrapped.
std::string why_text(const gate::Verdict& verdict, const Screen& screen) {
  std::string text;
  std::istringstream lines(wire::explanations_text(verdict));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    text += wrapped(std::string(indent + 2, ' '), line.substr(indent), screen.width);
  }
  return text.empty() ? "" : "\n" + text;
}

std::string advice_text(const gate::Verdict& verdict, const Screen& screen) {
  std::string text;
  for (const wire::Advice& advice : wire::advice_of(verdict))
    text += wrapped("  next: ", fmt::format("{}: {}", advice.metrics, advice.next), screen.width);
  return text.empty() ? "" : "\n" + text;
}

std::string head_of(const wire::RunAnswer& run) {
  return fmt::format("run {}  {} / {}  commit {}{}\n", run.id, run.project, run.workload, run.commit.substr(0, 12),
                     run.branch.empty() ? "" : "  on " + clean_text(run.branch));
}

std::string verdict_text(const wire::RunAnswer& run, const Screen& screen) {
  const gate::Verdict& verdict = run.verdict->verdict;
  const std::string outcome(gate::word(verdict.outcome));
  const std::string summary =
      wrapped(std::string(outcome.size() + 2, ' '), clean_text(verdict.summary, 2048), screen.width);
  std::string text = painted(outcome, outcome, screen.paint) + summary.substr(outcome.size());
  text += rules_text(verdict, screen) + why_text(verdict, screen) + advice_text(verdict, screen);
  std::string notes;
  for (const std::string& note : verdict.notes) notes += wrapped("  note: ", clean_text(note, 2048), screen.width);
  if (run.verdict->mode == "observe")
    notes += wrapped("  note: ", "this project only observes: the exit code is 0 whatever the verdict", screen.width);
  return text + (notes.empty() ? "" : "\n" + notes);
}

std::string state_text(const wire::RunAnswer& run, const Screen& screen) {
  std::string text;
  if (run.ranks && run.status == "pending") {
    text += fmt::format("  pending: {}\n", ranks_text(*run.ranks));
    for (const wire::RunRanks::Rejected& row : run.ranks->rejected)
      text += wrapped("  ",
                      fmt::format("rank {} was rejected and can be sent again: {}: {}", row.rank, word(row.error.code),
                                  clean_text(row.error.message, 2048)),
                      screen.width);
  }
  return text + fmt::format("  {}: no verdict yet; look again with: traceweir show {} --project {}\n", run.status,
                            run.id, run.project);
}

}  // namespace

std::string ranks_text(const wire::RunRanks& ranks) {
  std::string text = fmt::format("{} of {} ranks arrived", ranks.received.size(),
                                 ranks.expected ? std::to_string(*ranks.expected) : "?");
  if (!ranks.missing.empty()) text += fmt::format("; missing: {}", fmt::join(ranks.missing, ", "));
  return text;
}

std::string run_table(const wire::RunAnswer& run, const Screen& screen) {
  std::string text = head_of(run);
  for (const std::string& warning : run.warnings)
    text += wrapped("  warning: ", clean_text(warning, 2048), screen.width);
  for (const std::string& accepted : wire::sentences_of(run.acceptances))
    text += wrapped("  ", clean_text(accepted, 2048), screen.width);
  if (run.error)
    text += wrapped("  rejected: ", fmt::format("{}: {}", word(run.error->code), clean_text(run.error->message, 2048)),
                    screen.width);
  else
    text += run.verdict ? verdict_text(run, screen) : state_text(run, screen);
  if (!screen.address.empty() && !run.html.empty())
    text += fmt::format("\n  {}{}\n", screen.address, clean_text(run.html));
  return text;
}

}  // namespace traceweir::cli
