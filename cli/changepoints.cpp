#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <string>

#include "cli/change_point_options.hpp"
#include "cli/command.hpp"
#include "cli/series_file.hpp"
#include "server/wire/json.hpp"

namespace traceweir::cli {
namespace {

struct ChangePointOptions {
  std::string file;
  gate::ChangePointOptions changes;
  bool json = false;
};

void print_json(const std::vector<gate::ChangePoint>& points) {
  wire::Json document = {{"points", wire::Json::array()}};
  for (const gate::ChangePoint& point : points) document["points"].push_back(json_of(point));
  fmt::print("{}\n", wire::dump(document));
}

std::string change_cell(const gate::ChangePoint& point) {
  if (point.before == 0) return "from 0";
  return fmt::format("{:+.1f} %", (point.after / point.before - 1) * 100 * (point.before < 0 ? -1 : 1));
}

void print_table(const Series& series, const std::vector<gate::ChangePoint>& points,
                 const gate::ChangePointOptions& options) {
  fmt::print("{} values, {} change{} of level (p < {:g}, by more than {:g} %, at least {} value{} on each side)\n",
             series.values.size(), points.size(), points.size() == 1 ? "" : "s", options.p_max,
             options.magnitude_min * 100, options.values_min, options.values_min == 1 ? "" : "s");
  if (points.empty()) return;
  fmt::print("{:>8} {:>8} {:>14} {:>14} {:>10} {:>9}\n", "index", "line", "before", "after", "change", "p");
  for (const gate::ChangePoint& point : points)
    fmt::print("{:>8} {:>8} {:>14.6g} {:>14.6g} {:>10} {:>9.1e}\n", point.index, series.lines[point.index],
               point.before, point.after, change_cell(point), point.p);
}

int run(const ChangePointOptions& options) {
  if (const auto checked = check_change_point_options(options.changes); !checked) return say(checked.error());
  const auto series = read_series(options.file);
  if (!series) return say(series.error());
  const auto points = gate::change_points(series->values, options.changes);
  if (options.json)
    print_json(points);
  else
    print_table(*series, points, options.changes);
  return exit_done;
}

}  // namespace

Action declare_changepoints(CLI::App& app) {
  const auto options = std::make_shared<ChangePointOptions>();
  app.add_option("FILE", options->file, "one number per line, or a CSV with a column `value`; - is stdin")->required();
  add_change_point_options(app, options->changes);
  app.add_flag("--json", options->json, "as JSON: {\"points\": [{index, before, after, p, magnitude}]}");
  app.footer(R"(Index 0 is the first value; a change has the index of the first value of its new level.

Examples:
  traceweir changepoints times.csv
  traceweir history step.time_p50 --project llama --branch main --csv | traceweir changepoints -
  traceweir changepoints times.csv --min-side 1 --magnitude 0 --json

Exit codes: 0 done, whatever was found; 2 usage, or a file that is no series.)");
  return [options] { return run(*options); };
}

}  // namespace traceweir::cli
