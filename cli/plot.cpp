#include "cli/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "gate/units.hpp"

namespace traceweir::cli {
namespace {

constexpr std::size_t width_min = 24, height_min = 2;
constexpr std::size_t ticks = 4;

struct MarkRow {
  std::optional<gate::Outcome> outcome;
  std::string_view word, ascii, unicode, colour;
};
/// Worst first: where points share a column, the first row that one of them has is shown.
constexpr MarkRow marks[] = {
    {gate::Outcome::fail, "fail", "x", "✗", "\x1b[31m"},
    {gate::Outcome::warn, "warn", "!", "▲", "\x1b[33m"},
    {gate::Outcome::inconclusive, "inconclusive", "?", "○", "\x1b[36m"},
    {gate::Outcome::pass, "pass", "o", "●", "\x1b[32m"},
    {std::nullopt, "no verdict", ".", "·", ""},
};

struct Strokes {
  std::string_view upright, level, corner, tick;
};
constexpr Strokes ascii_strokes{"|", "-", "+", "+"};
constexpr Strokes unicode_strokes{"│", "─", "└", "┤"};

const Strokes& strokes_of(const PlotLook& look) {
  return look.glyphs == PlotLook::Glyphs::unicode ? unicode_strokes : ascii_strokes;
}

std::size_t rank_of(const std::optional<gate::Outcome>& outcome) {
  const auto same = [&](const MarkRow& row) { return row.outcome == outcome; };
  return static_cast<std::size_t>(std::find_if(std::begin(marks), std::end(marks), same) - std::begin(marks));
}

std::string painted(const MarkRow& row, const PlotLook& look) {
  const std::string_view glyph = look.glyphs == PlotLook::Glyphs::unicode ? row.unicode : row.ascii;
  const bool plain = look.colours == PlotLook::Colours::none || row.colour.empty();
  return plain ? std::string(glyph) : fmt::format("{}{}\x1b[0m", row.colour, glyph);
}

/// The values that the lines stand for, from the lowest to the highest one.
struct Scale {
  double low = 0, high = 0;
  std::size_t lines = 0;

  [[nodiscard]] double at(std::size_t line) const {
    const double share = static_cast<double>(line) / static_cast<double>(lines - 1);
    return low * (1 - share) + high * share;  // no difference of the two, which might overflow
  }
  [[nodiscard]] std::size_t line_of(double value) const {
    const double share = (value / 2 - low / 2) / (high / 2 - low / 2);
    return static_cast<std::size_t>(std::lround(share * static_cast<double>(lines - 1)));
  }
};

Scale scale_of(const std::vector<PlotPoint>& points, std::size_t lines) {
  const auto less = [](const PlotPoint& a, const PlotPoint& b) { return a.value < b.value; };
  const auto [low, high] = std::minmax_element(points.begin(), points.end(), less);
  Scale scale{low->value, high->value, lines};
  if (scale.low < scale.high) return scale;
  // One level: in the middle, with something on either side to compare it with.
  const double room = scale.low == 0 ? 1 : std::fabs(scale.low) / 10;
  scale.low = std::max(scale.low - room, std::numeric_limits<double>::lowest());
  scale.high = std::min(scale.high + room, std::numeric_limits<double>::max());
  return scale;
}

/// The point that each column shows, by its index.
std::vector<std::size_t> shown(const std::vector<PlotPoint>& points, std::size_t columns) {
  std::vector<std::size_t> best(std::min(points.size(), columns), points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::size_t& mine = best[i * best.size() / points.size()];
    if (mine == points.size() || rank_of(points[i].outcome) < rank_of(points[mine].outcome)) mine = i;
  }
  return best;
}

/// The label of each line, from the lowest; most have none.
std::vector<std::string> labels_of(const Scale& scale, Unit unit) {
  std::vector<std::string> labels(scale.lines);
  const std::size_t step = std::max<std::size_t>(1, (scale.lines - 1 + ticks - 1) / ticks);
  for (std::size_t line = 0; line < scale.lines; line += step) labels[line] = gate::human(scale.at(line), unit);
  return labels;
}

/// How many columns a text takes: its characters, since units hold no wide ones.
std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t columns) {
  const std::size_t own = columns_of(text);
  return std::string(own < columns ? columns - own : 0, ' ') + text;
}

std::string repeated(std::string_view stroke, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += stroke;
  return text;
}

/// `first` at the left, `last` at the right of `columns`; only what fits.
std::string ends_line(const PlotEnds& ends, std::size_t columns) {
  if (ends.first == ends.last || ends.first.size() + ends.last.size() + 1 > columns)
    return ends.last.substr(0, columns);
  return ends.first + padded(ends.last, columns - ends.first.size());
}

}  // namespace

std::string plot(const std::vector<PlotPoint>& points, Unit unit, const PlotEnds& ends, const PlotLook& look) {
  if (points.empty()) return "";
  const Scale scale = scale_of(points, std::max(look.height, height_min));
  const std::vector<std::string> labels = labels_of(scale, unit);
  std::size_t margin = 0;
  for (const std::string& label : labels) margin = std::max(margin, columns_of(label));
  const std::size_t columns = std::max(look.width, std::max(width_min, margin + 4)) - margin - 2;
  const std::vector<std::size_t> chosen = shown(points, columns);
  // A few points are spread over the width.
  const std::size_t gap = std::max<std::size_t>(1, std::min<std::size_t>(columns / chosen.size(), 6));

  const Strokes& strokes = strokes_of(look);
  std::string text;
  for (std::size_t line = scale.lines; line-- > 0;) {
    text += fmt::format("{} {}", padded(labels[line], margin), labels[line].empty() ? strokes.upright : strokes.tick);
    std::size_t blank = 0;
    for (const std::size_t i : chosen) {
      const bool here = scale.line_of(points[i].value) == line;
      if (here) text += std::string(std::exchange(blank, 0), ' ') + painted(marks[rank_of(points[i].outcome)], look);
      blank += here ? gap - 1 : gap;
    }
    text += '\n';
  }
  const std::size_t used = (chosen.size() - 1) * gap + 1;
  text += fmt::format("{} {}{}\n", padded("", margin), strokes.corner, repeated(strokes.level, used));
  return text + padded("", margin + 2) + ends_line(ends, std::max(used, ends.last.size())) + "\n";
}

std::string plot_legend(const std::vector<PlotPoint>& points, const PlotLook& look) {
  std::string text;
  for (const MarkRow& row : marks) {
    const auto has = [&](const PlotPoint& point) { return point.outcome == row.outcome; };
    if (std::any_of(points.begin(), points.end(), has))
      text += fmt::format("{}{} {}", text.empty() ? "" : "   ", painted(row, look), row.word);
  }
  return text;
}

}  // namespace traceweir::cli
