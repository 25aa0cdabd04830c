#include "cli/plot.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <sstream>

namespace traceweir::cli {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::size_t columns(const std::string& line) {
  std::size_t count = 0;
  for (const char c : line) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
  return count;
}

TEST_CASE("plot: values, their outcomes, the unit on the axis") {
  const std::vector<PlotPoint> points = {{0.9, gate::Outcome::inconclusive},
                                         {0.9, gate::Outcome::pass},
                                         {0.7, gate::Outcome::fail},
                                         {0.8, gate::Outcome::warn},
                                         {0.9, std::nullopt}};
  PlotLook look;
  look.height = 5;
  CHECK(plot(points, Unit::ratio, {"aaaa", "bbbb"}, look) ==
        "90.0 % +?     o                 .\n"
        "85.0 % +\n"
        "80.0 % +                  !\n"
        "75.0 % +\n"
        "70.0 % +            x\n"
        "       +-------------------------\n"
        "        aaaa                 bbbb\n");
  CHECK(plot_legend(points, look) == "x fail   ! warn   ? inconclusive   o pass   . no verdict");
}

TEST_CASE("plot: unicode and colours where the terminal has them") {
  PlotLook look;
  look.height = 2;
  look.glyphs = PlotLook::Glyphs::unicode;
  look.colours = PlotLook::Colours::of_outcomes;
  const std::string text = plot({{1e6, gate::Outcome::pass}, {2e6, gate::Outcome::fail}}, Unit::ns, {"a", "b"}, look);
  CHECK(text.find("┤") != std::string::npos);
  CHECK(text.find("\x1b[31m✗\x1b[0m") != std::string::npos);
  CHECK(text.find("2 ms") != std::string::npos);
}

TEST_CASE("plot: no line is wider than the terminal, however many points there are, and no failure is lost") {
  for (const std::size_t width :
       {std::size_t{0}, std::size_t{24}, std::size_t{40}, std::size_t{80}, std::size_t{200}}) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{79}, std::size_t{1000}}) {
      std::vector<PlotPoint> points;
      for (std::size_t i = 0; i < count; ++i)
        points.push_back({1e6 + static_cast<double>(i * i % 97), gate::Outcome::pass});
      points[count / 2].outcome = gate::Outcome::fail;
      PlotLook look;
      look.width = width;
      const std::string text = plot(points, Unit::ns, {"0123456789ab", "ba9876543210"}, look);
      for (const std::string& line : lines_of(text)) CHECK(columns(line) <= std::max(width, std::size_t{24}));
      CHECK(text.find('x') != std::string::npos);
    }
  }
}

TEST_CASE("plot: odd values") {
  const double large = std::numeric_limits<double>::max();
  for (const std::vector<PlotPoint>& points :
       {std::vector<PlotPoint>{{0, gate::Outcome::pass}}, std::vector<PlotPoint>{{-large, {}}, {large, {}}},
        std::vector<PlotPoint>{{5, {}}, {5, {}}}, std::vector<PlotPoint>{{large, {}}}})
    CHECK(lines_of(plot(points, Unit::count, {"a", "a"}, PlotLook{})).size() == 15);
  CHECK(plot({}, Unit::count, {}, PlotLook{}).empty());
}

}  // namespace
}  // namespace traceweir::cli
