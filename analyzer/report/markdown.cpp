#include "analyzer/report/markdown.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/report/overview.hpp"
#include "analyzer/report/quantities.hpp"
#include "analyzer/report/report.hpp"

namespace traceweir::report {
namespace {

constexpr std::size_t name_cells_max = 80;

/// What stands for a character. After @ and # a space without width keeps a host from seeing a mention or a reference.
struct Reference {
  char character;
  std::string_view text;
};
constexpr Reference references[] = {{'|', "&vert;"},
                                    {'`', "&grave;"},
                                    {'<', "&lt;"},
                                    {'>', "&gt;"},
                                    {'@', "&commat;&ZeroWidthSpace;"},
                                    {'#', "&num;&ZeroWidthSpace;"},
                                    {'*', "&ast;"},
                                    {'[', "&lbrack;"},
                                    {']', "&rbrack;"},
                                    {'\\', "&bsol;"},
                                    {'&', "&amp;"},
                                    {'~', "&#126;"},
                                    {'\n', " "},
                                    {'\r', " "}};

/// What a host makes a link of by itself. The same space keeps it from that.
struct LinkBegin {
  std::string_view begin, text;
};
constexpr LinkBegin links[] = {
    {"://", ":&ZeroWidthSpace;//"}, {"www.", "www&ZeroWidthSpace;."}, {"GH-", "GH&ZeroWidthSpace;-"}};

void append_row(std::string& out, const std::vector<std::string>& cells) {
  out += "|";
  for (const std::string& cell : cells) out += " " + cell + " |";
  out += "\n";
}

void append_grid(std::string& out, const Grid& grid) {
  if (grid.rows.empty()) return;
  out += "\n";
  append_row(out, grid.head);
  std::vector<std::string> ruler;
  for (std::size_t c = 0; c < grid.head.size(); ++c) ruler.emplace_back(c < grid.left_columns ? ":--" : "--:");
  append_row(out, ruler);
  for (const auto& row : grid.rows) {
    std::vector<std::string> cells;
    for (const std::string& cell : row) cells.push_back(escaped_markdown(shortened(cell, name_cells_max)));
    append_row(out, cells);
  }
}

void append_facts(std::string& out, const Facts& facts) {
  if (!facts.empty()) out += "\n";
  for (const auto& [name, value] : facts) out += fmt::format("- {}: {}\n", name, escaped_markdown(value));
}

Grid figure_grid(const RankReport& rank) {
  Grid grid{{"GPU time", "share", ""}, {}, 1};
  for (const Figure& figure : figures(rank))
    grid.rows.push_back({figure.label, figure.share ? human(*figure.share, Unit::ratio) : "–", figure.note});
  return grid;
}

void append_findings(std::string& out, const std::vector<Finding>& findings) {
  if (!findings.empty()) out += "\n";
  for (const Finding& finding : findings) {
    const std::string evidence = evidence_text(finding);
    out += fmt::format("- **{}** ({}): {}{}{}\n", word(finding.code), word(finding.severity),
                       escaped_markdown(finding.advice), evidence.empty() ? "" : " ", escaped_markdown(evidence));
  }
}

void append_rank(std::string& out, const RankReport& rank) {
  out += fmt::format("\n### {}\n", rank_title(rank));
  append_facts(out, rank_facts(rank));
  append_grid(out, figure_grid(rank));
  append_findings(out, rank.findings);
  append_grid(out, idle_grid(rank, idle_rows_max));
  append_grid(out, communication_grid(rank));
  append_facts(out, other_facts(rank));
  append_grid(out, kernel_grid(rank, kernel_rows_max));
  const Facts missing = not_measured_facts(rank);
  if (missing.empty()) return;
  out += "\n<details><summary>Not measured</summary>\n";
  append_facts(out, missing);
  out += "\n</details>\n";
}

}  // namespace

std::string escaped_markdown(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto* link = std::find_if(std::begin(links), std::end(links),
                                    [&](const LinkBegin& row) { return text.starts_with(row.begin); });
    if (link != std::end(links)) {
      out += link->text;
      text.remove_prefix(link->begin.size());
      continue;
    }
    const auto* reference = std::find_if(std::begin(references), std::end(references),
                                         [&](const Reference& r) { return r.character == text.front(); });
    out += reference == std::end(references) ? text.substr(0, 1) : reference->text;
    text.remove_prefix(1);
  }
  return out;
}

std::string to_markdown(const Report& report) {
  const bool several = report.ranks.size() > 1;
  std::string out = fmt::format("## Traceweir: {} {}\n", report.ranks.size(), several ? "ranks" : "rank");
  if (several) append_grid(out, run_grid(report));
  append_findings(out, report.findings);
  for (const RankReport& rank : report.ranks) append_rank(out, rank);
  out += fmt::format("\nAnalyzer {}.\n", escaped_markdown(report.analyzer_version));
  return out;
}

}  // namespace traceweir::report
