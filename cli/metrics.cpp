#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/report/report.hpp"
#include "cli/command.hpp"
#include "cli/metric_docs.hpp"
#include "server/wire/json.hpp"

namespace traceweir::cli {
namespace {

/// The catalogue, then a row for each family whose members a trace names.
std::vector<MetricInfo> every_metric() {
  std::vector<MetricInfo> rows(report::catalog().begin(), report::catalog().end());
  rows.insert(rows.end(), report::families().begin(), report::families().end());
  return rows;
}

/// The row of the page that is about this metric.
const MetricDoc* doc_of(std::string_view id) {
  const std::size_t dot = id.find('.');
  const std::string of_any_kind = "K" + std::string(id.substr(std::min(dot, id.size())));
  const auto docs = metric_docs();
  for (const std::string_view wanted : {id, std::string_view(of_any_kind)})
    for (const MetricDoc& row : docs)
      if (row.id == wanted) return &row;
  return nullptr;
}

void print_json() {
  wire::Json list = wire::Json::array();
  for (const MetricInfo& metric : every_metric()) {
    wire::Json row = {{"metric", metric.id},
                      {"unit", word(metric.unit)},
                      {"better", word(metric.better)},
                      {"meaning", metric.meaning}};
    if (const MetricDoc* doc = doc_of(metric.id)) {
      row["formula"] = doc->formula;
      row["does_not_mean"] = doc->not_meant == "–" ? wire::Json(nullptr) : wire::Json(doc->not_meant);
      row["inputs"] = doc->inputs;
    }
    list.push_back(std::move(row));
  }
  fmt::print("{}\n", wire::dump(list));
}

constexpr std::string_view legend =
    "\nC: compute and opaque graphs. M: communication. D: copies and memsets. W: the window. |X|: length of the union "
    "in it.\n"
    "K: allreduce, allgather, reducescatter, broadcast, reduce, alltoall, sendrecv, other. More: docs/metrics.md\n";

/// The tables of docs/metrics.md, section by section.
void print_table() {
  std::string_view section;
  for (const MetricDoc& row : metric_docs()) {
    if (row.section != section) {
      fmt::print("{}{}\ninputs: {}\n", section.empty() ? "" : "\n", row.section, row.inputs);
      section = row.section;
    }
    fmt::print("  {:<30} {:<6} {:<7} {}\n", row.id, row.unit, row.better, row.formula);
    if (row.not_meant != "–") fmt::print("  {:<30} does not mean: {}\n", "", row.not_meant);
  }
  fmt::print("{}", legend);
}

}  // namespace

Action declare_metrics(CLI::App& app) {
  const auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "as JSON");
  app.footer("Examples:\n  traceweir metrics\n  traceweir metrics --json | jq '.[] | select(.unit == \"GB/s\")'");
  return [json] {
    if (*json)
      print_json();
    else
      print_table();
    return exit_done;
  };
}

}  // namespace traceweir::cli
