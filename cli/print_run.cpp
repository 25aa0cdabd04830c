#include "cli/print_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analyzer/core/text.hpp"
#include "gate/units.hpp"
#include "server/wire/explanation_text.hpp"

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

std::string amount(const std::optional<double>& value, const std::string& unit) {
  if (!value) return "-";
  const auto known = unit_of(unit);
  return known ? gate::human(*value, *known) : fmt::format("{:g} {}", *value, unit);
}

std::string baseline_cell(const gate::RuleResult& rule) {
  if (!rule.baseline) return "-";
  return fmt::format("{} ± {} (n={})", amount(rule.baseline->level, rule.unit), amount(rule.baseline->noise, rule.unit),
                     rule.baseline->runs);
}

std::string delta_cell(const gate::RuleResult& rule) {
  const auto known = unit_of(rule.unit);
  if (!rule.delta || !rule.baseline || !known) return "-";
  return gate::human_delta(*rule.delta, rule.baseline->level, *known);
}

std::string tolerance_cell(const gate::RuleResult& rule) {
  std::string cell = gate::spaced(rule.tolerance);
  if (rule.limit) cell += (cell.empty() ? "limit " : ", limit ") + gate::spaced(rule.limit->text);
  return cell.empty() ? "-" : cell;
}

/// Columns as wide as people count: UTF-8 continuation bytes take no room.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string padded(std::string_view text, std::size_t width) {
  const std::size_t used = width_of(text);
  return std::string(text) + std::string(used < width ? width - used : 0, ' ');
}

using Row = std::vector<std::string>;

Row cells_of(const gate::RuleResult& rule) {
  const std::string outcome = rule.outcome ? std::string(gate::word(*rule.outcome)) : "n/a";
  return {rule.metric, amount(rule.observed, rule.unit),    baseline_cell(rule), delta_cell(rule), tolerance_cell(rule),
          outcome,     std::string(gate::word(rule.reason))};
}

std::string table_of(const std::vector<gate::RuleResult>& rules, report::Paint paint) {
  std::vector<Row> rows = {{"metric", "value", "baseline", "delta", "tolerance", "verdict", "reason"}};
  for (const gate::RuleResult& rule : rules) rows.push_back(cells_of(rule));
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  constexpr std::size_t verdict_column = 5;
  std::string text;
  for (const Row& row : rows) {
    std::string line = " ";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string cell = padded(row[i], widths[i]);
      line += " " + (i == verdict_column ? painted(row[i], cell, paint) : cell);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

/// Each advice once. Rules that were not judged speak too where the verdict itself is open.
std::string what_next(const gate::Verdict& verdict) {
  std::string text;
  const bool open = verdict.outcome == gate::Outcome::inconclusive;
  for (const gate::RuleResult& rule : verdict.rules)
    if ((rule.outcome ? *rule.outcome != gate::Outcome::pass : open) && !rule.next.empty() &&
        text.find(rule.next) == std::string::npos)
      text += fmt::format("  next: {}: {}\n", rule.metric, rule.next);
  return text;
}

}  // namespace

std::string ranks_text(const wire::RunRanks& ranks) {
  std::string text = fmt::format("{} of {} ranks arrived", ranks.received.size(),
                                 ranks.expected ? std::to_string(*ranks.expected) : "?");
  if (!ranks.missing.empty()) text += fmt::format("; missing: {}", fmt::join(ranks.missing, ", "));
  return text;
}

std::string run_table(const wire::RunAnswer& run, const Client& client, report::Paint paint) {
  std::string text = fmt::format("run {}  {} / {}  commit {}{}\n", run.id, run.project, run.workload,
                                 run.commit.substr(0, 12), run.branch.empty() ? "" : "  on " + clean_text(run.branch));
  for (const std::string& warning : run.warnings) text += fmt::format("  warning: {}\n", warning);
  if (run.error) return text + fmt::format("  rejected: {}: {}\n", word(run.error->code), run.error->message);
  if (run.ranks && run.status == "pending") {
    text += fmt::format("  pending: {}\n", ranks_text(*run.ranks));
    for (const wire::RunRanks::Rejected& row : run.ranks->rejected)
      text += fmt::format("  rank {} was rejected and can be sent again: {}: {}\n", row.rank, word(row.error.code),
                          clean_text(row.error.message));
  }
  if (!run.verdict)
    return text + fmt::format("  {}: no verdict yet; look again with: traceweir show {} --project {}\n", run.status,
                              run.id, run.project);
  const gate::Verdict& verdict = run.verdict->verdict;
  const std::string outcome(gate::word(verdict.outcome));
  text += fmt::format("{}  {}\n\n", painted(outcome, outcome, paint), verdict.summary);
  text += table_of(verdict.rules, paint);
  const std::string why = wire::explanations_text(verdict);
  if (!why.empty()) text += "\n" + why;
  text += "\n" + what_next(verdict);
  for (const std::string& note : verdict.notes) text += fmt::format("  note: {}\n", note);
  if (run.verdict->mode == "observe")
    text += "  note: this project only observes: the exit code is 0 whatever the verdict\n";
  return text + fmt::format("  {}\n", client.address_of(run.self));
}

int exit_code_of(const wire::VerdictDocument& verdict, gate::Strictness strictness) {
  return verdict.mode == "observe" ? 0 : gate::exit_code(verdict.verdict, strictness);
}

}  // namespace traceweir::cli
