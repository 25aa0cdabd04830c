#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/report/report.hpp"
#include "cli/command.hpp"
#include "server/wire/json.hpp"

namespace traceweir::cli {
namespace {

/// The catalogue, then a row for each family whose members a trace names.
std::vector<MetricInfo> every_metric() {
  std::vector<MetricInfo> rows(report::catalog().begin(), report::catalog().end());
  rows.insert(rows.end(), report::families().begin(), report::families().end());
  return rows;
}

void print_json() {
  wire::Json list = wire::Json::array();
  for (const MetricInfo& metric : every_metric())
    list.push_back({{"metric", metric.id},
                    {"unit", word(metric.unit)},
                    {"better", word(metric.better)},
                    {"meaning", metric.meaning}});
  fmt::print("{}\n", wire::dump(list));
}

void print_table() {
  fmt::print("{:<30} {:<6} {:<7} {}\n", "metric", "unit", "better", "meaning");
  for (const MetricInfo& metric : every_metric())
    fmt::print("{:<30} {:<6} {:<7} {}\n", metric.id, word(metric.unit), word(metric.better), metric.meaning);
}

}  // namespace

Action declare_metrics(CLI::App& app) {
  const auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "as JSON");
  return [json] {
    if (*json)
      print_json();
    else
      print_table();
    return exit_done;
  };
}

}  // namespace traceweir::cli
