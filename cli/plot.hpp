// For: a series as a picture made of characters. Not for: asking for it, colours of other tables.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/core/metric.hpp"
#include "gate/verdict.hpp"

namespace traceweir::cli {

struct PlotPoint {
  double value = 0;  ///< finite
  std::optional<gate::Outcome> outcome;
};

struct PlotLook {
  enum class Glyphs { ascii, unicode } glyphs = Glyphs::ascii;
  enum class Colours { none, of_outcomes } colours = Colours::none;
  std::size_t width = 80;   ///< columns in all, the axis among them; fewer than 24 count as 24
  std::size_t height = 13;  ///< lines between the axes; fewer than 2 count as 2
};

/// What stands below the picture.
struct PlotEnds {
  std::string first, last;  ///< of the oldest and the newest point: commits
};

/// Units:  `unit` is the metric's; the axis shows it with every value.
/// Shape:  lines, each ended, none wider than `width`. Points from left to right. Where there are more than columns,
///         neighbours share one: its mark is that of the worst outcome, at its value, so that no failure is lost.
///         Empty where there is no point.
std::string plot(const std::vector<PlotPoint>& points, Unit unit, const PlotEnds& ends, const PlotLook& look);

/// `● pass  ✗ fail …`: the marks of the outcomes that occur.
std::string plot_legend(const std::vector<PlotPoint>& points, const PlotLook& look);

}  // namespace traceweir::cli
