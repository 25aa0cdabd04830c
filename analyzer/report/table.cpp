// The report for a person at a terminal: at most `columns` characters a line.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/report/overview.hpp"
#include "analyzer/report/quantities.hpp"
#include "analyzer/report/report.hpp"

namespace traceweir::report {
namespace {

constexpr std::size_t columns = 96;
constexpr std::size_t bar_cells = 40;
// From here on each rank gets its figures and findings only: the run's table tells the rest.
constexpr std::size_t detailed_ranks_max = 4;

enum class Ink { plain, bold, dim, red, yellow, green, cyan };

std::string_view code_of(Ink ink) {
  constexpr std::string_view codes[] = {"", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[33m", "\x1b[32m", "\x1b[36m"};
  return codes[static_cast<std::size_t>(ink)];
}

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, width_of(text)), ' ');
}
std::string padded_left(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, width_of(text)), ' ') + text;
}

/// Lines of text of at most `width` characters, broken at spaces where there are any.
std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t space = std::min(text.find(' ', at), text.size());
    const std::string word = shortened(text.substr(at, space - at), width);
    if (!lines.back().empty() && width_of(lines.back()) + 1 + width_of(word) > width) lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
    at = space + 1;
  }
  return lines;
}

class Page {
 public:
  explicit Page(Paint paint) : paint_(paint) {}

  std::string inked(Ink ink, const std::string& text) const {
    if (paint_ == Paint::plain || ink == Ink::plain || text.empty()) return text;
    return std::string(code_of(ink)) + text + "\x1b[0m";
  }

  void line(const std::string& text = {}) {
    const std::size_t last = text.find_last_not_of(' ');
    out_ += text.substr(0, last == std::string::npos ? 0 : last + 1) + '\n';
  }

  /// `  name   value`, the value broken into several lines under itself.
  void fact(const std::string& name, std::string_view value, std::size_t name_width) {
    const auto lines = wrapped(value, columns - name_width - 4);
    for (std::size_t i = 0; i < lines.size(); ++i)
      line("  " + (i == 0 ? inked(Ink::dim, padded(name, name_width)) : std::string(name_width, ' ')) + "  " +
           lines[i]);
  }

  void grid(const Grid& grid) {
    if (grid.rows.empty()) return;
    std::vector<std::size_t> widths = widths_of(grid);
    line();
    std::string head;
    for (std::size_t c = 0; c < grid.head.size(); ++c) head += "  " + cell(grid, grid.head[c], c, widths[c]);
    line(inked(Ink::dim, head));
    for (const auto& row : grid.rows) {
      std::string text;
      for (std::size_t c = 0; c < row.size(); ++c) text += "  " + cell(grid, row[c], c, widths[c]);
      line(text);
    }
  }

  std::string take() { return std::move(out_); }

 private:
  static std::string cell(const Grid& grid, const std::string& text, std::size_t column, std::size_t width) {
    const std::string fitting = shortened(text, width);
    return column < grid.left_columns ? padded(fitting, width) : padded_left(fitting, width);
  }

  /// Every column as wide as its widest cell; the first one gives way where the line would be too long.
  static std::vector<std::size_t> widths_of(const Grid& grid) {
    std::vector<std::size_t> widths;
    for (const std::string& title : grid.head) widths.push_back(width_of(title));
    for (const auto& row : grid.rows)
      for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], width_of(row[c]));
    std::size_t others = 2;
    for (std::size_t c = 1; c < widths.size(); ++c) {
      if (c < grid.left_columns) widths[c] = std::min<std::size_t>(widths[c], 32);
      others += widths[c] + 2;
    }
    widths[0] = std::min(widths[0], columns - std::min(others, columns - 8));
    return widths;
  }

  Paint paint_;
  std::string out_;
};

Ink ink_of(Severity severity) {
  switch (severity) {
    case Severity::info:
      return Ink::cyan;
    case Severity::warning:
      return Ink::yellow;
    case Severity::data_loss:
      return Ink::red;
  }
  return Ink::plain;
}

void print_figures(Page& page, const RankReport& rank) {
  page.line();
  for (const Figure& figure : figures(rank)) {
    const std::string name = "  " + padded(figure.label, 14);
    if (!figure.share) {
      page.line(name + "  " + padded_left("–", 8) + "  " + page.inked(Ink::dim, figure.note));
      continue;
    }
    const Ink ink = figure.metric == "gpu.utilization" || figure.metric == "gpu.compute" ? Ink::green : Ink::yellow;
    page.line(name + "  " + page.inked(Ink::bold, padded_left(human(*figure.share, Unit::ratio), 8)) + "  " +
              page.inked(ink, bar(*figure.share, bar_cells)));
    if (!figure.note.empty()) page.line(std::string(28, ' ') + page.inked(Ink::dim, figure.note));
  }
}

void print_findings(Page& page, const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    page.line();
    const std::string title = fmt::format("{} ({})", word(finding.code), word(finding.severity));
    page.line("  " + page.inked(ink_of(finding.severity), title));
    for (const std::string& text : {finding.advice, evidence_text(finding)})
      if (!text.empty()) page.fact("", text, 2);
  }
}

void print_details(Page& page, const RankReport& rank) {
  page.grid(idle_grid(rank, idle_rows_max));
  page.grid(communication_grid(rank));
  const Facts facts = other_facts(rank);
  if (!facts.empty()) page.line();
  for (const auto& [name, value] : facts) page.fact(name, value, 14);
  page.grid(kernel_grid(rank, kernel_rows_max));
}

void print_not_measured(Page& page, const RankReport& rank) {
  const Facts facts = not_measured_facts(rank);
  if (facts.empty()) return;
  page.line();
  page.line("  " + page.inked(Ink::dim, "not measured"));
  for (const auto& [reason, ids] : facts) page.fact("", reason + ": " + ids, 2);
}

}  // namespace

std::string to_table(const Report& report, Paint paint) {
  Page page(paint);
  const bool several = report.ranks.size() > 1;
  page.line(page.inked(Ink::bold, fmt::format("Traceweir {}: {} {}", report.analyzer_version, report.ranks.size(),
                                              several ? "ranks" : "rank")));
  if (several) page.grid(run_grid(report));
  print_findings(page, report.findings);
  for (const RankReport& rank : report.ranks) {
    page.line();
    page.line(page.inked(Ink::bold, rank_title(rank)));
    for (const auto& [name, value] : rank_facts(rank)) page.fact(name, value, 14);
    print_figures(page, rank);
    if (report.ranks.size() <= detailed_ranks_max) print_details(page, rank);
    print_findings(page, rank.findings);
    if (report.ranks.size() <= detailed_ranks_max) print_not_measured(page, rank);
  }
  return page.take();
}

}  // namespace traceweir::report
