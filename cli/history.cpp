#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <string>

#include "analyzer/core/text.hpp"
#include "cli/command.hpp"
#include "cli/connection.hpp"
#include "cli/plot.hpp"
#include "cli/terminal.hpp"
#include "gate/units.hpp"
#include "server/wire/listing.hpp"
#include "server/wire/url_text.hpp"

namespace traceweir::cli {
namespace {

struct HistoryOptions {
  ConnectionOptions connection;
  std::string metric, branch, workload = "default";
  std::int64_t limit = 50;
  bool json = false, csv = false, plot = false;
};

std::string change_cell(const wire::HistoryPoint& point, const wire::HistoryPoint* before, Unit unit) {
  return before == nullptr ? "" : gate::human_delta(point.value - before->value, before->value, unit);
}

PlotLook look_of_stdout() {
  PlotLook look;
  look.width = columns_of_stdout();
  if (shows_unicode()) look.glyphs = PlotLook::Glyphs::unicode;
  if (paint_of_stdout() == report::Paint::colour) look.colours = PlotLook::Colours::of_outcomes;
  return look;
}

void print_plot(const wire::HistoryDocument& history) {
  std::vector<PlotPoint> points;
  for (const wire::HistoryPoint& point : history.points) points.push_back({point.value, point.outcome});
  if (points.empty()) return;
  const PlotLook look = look_of_stdout();
  const PlotEnds ends{history.points.front().commit.substr(0, 12), history.points.back().commit.substr(0, 12)};
  fmt::print("{}{}\n\n", plot(points, unit_of(history.unit).value_or(Unit::count), ends, look),
             plot_legend(points, look));
}

std::string title_of(const wire::HistoryDocument& history) {
  return fmt::format(
      "{} ({})\n", history.metric,
      history.better == Better::none ? "no better side" : fmt::format("{} is better", word(history.better)));
}

void print_rows(const wire::HistoryDocument& history) {
  const Unit unit = unit_of(history.unit).value_or(Unit::count);
  fmt::print("{:<20}  {:<12}  {:<16}  {:>12}  {:>10}  {:<12}  {}\n", "uploaded", "commit", "branch", "value", "change",
             "outcome", "run");
  const wire::HistoryPoint* before = nullptr;
  for (const wire::HistoryPoint& point : history.points) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(point.uploaded_at);
    fmt::print("{:<20}  {:<12}  {:<16}  {:>12}  {:>10}  {:<12}  {}\n", wire::to_rfc3339(seconds),
               point.commit.substr(0, 12), clean_text(point.branch, 32), gate::human(point.value, unit),
               change_cell(point, before, unit), point.outcome ? gate::word(*point.outcome) : "", point.run);
    before = &point;
  }
  if (history.points.empty()) fmt::print("no run has measured it yet on this branch and workload\n");
}

int run(const HistoryOptions& options) {
  PathWithQuery path(fmt::format("/api/v1/projects/{}/history", wire::percent_encoded(options.connection.project)));
  path.add("metric", options.metric);
  path.add("branch", options.branch);
  path.add("workload", options.workload);
  path.add("limit", std::to_string(options.limit));
  const OutputForm form = options.json ? OutputForm::json : OutputForm::text;
  return ask(options.connection, path.text(), form, [&options](const Client&, const std::string& body) {
    const auto history = wire::history_from_json(body);
    if (!history) return say(history.error());
    if (options.csv) {
      fmt::print("{}", wire::to_csv(*history));
      return exit_done;
    }
    fmt::print("{}", title_of(*history));
    if (options.plot || stdout_is_terminal()) print_plot(*history);
    print_rows(*history);
    return exit_done;
  });
}

}  // namespace

Action declare_history(CLI::App& app) {
  const auto options = std::make_shared<HistoryOptions>();
  app.add_option("METRIC", options->metric, "id of the metric; `traceweir metrics` lists them")->required();
  add_connection_options(app, options->connection);
  app.add_option("--branch", options->branch, "only this branch (default: all)");
  app.add_option("--workload", options->workload, "which workload")
      ->envname("TRACEWEIR_WORKLOAD")
      ->capture_default_str();
  app.add_option("--limit", options->limit, "the newest so many")->check(CLI::Range(1, 10'000))->capture_default_str();
  auto* json = app.add_flag("--json", options->json, "as the service answers");
  app.add_flag("--csv", options->csv, "as CSV")->excludes(json);
  app.add_flag("--plot", options->plot, "a picture above the table (on a terminal it is always there)");
  app.footer(R"(Examples:
  traceweir history gpu.utilization --project llama --branch main
  traceweir history step.time_p50 --project llama --plot --limit 200 | less
  traceweir history gpu.utilization --project llama --csv > utilization.csv)");
  return [options] { return run(*options); };
}

}  // namespace traceweir::cli
