#include "server/api/series_metric.hpp"

#include <fmt/format.h>

#include "analyzer/report/report.hpp"
#include "gate/metric_facts.hpp"

namespace traceweir::api {

Result<MetricInfo> metric_in(const http::Query& query) {
  TRACEWEIR_TRY(id, query.one("metric"));
  if (!id) return fail(ErrorCode::bad_query, "metric: missing: the history of which metric?");
  const std::optional<MetricInfo> metric = gate::metric_info(*id);
  if (!metric)
    return fail(ErrorCode::bad_query,
                fmt::format("metric: there is no metric '{}'; `traceweir metrics` lists them", *id));
  return *metric;
}

Result<void> ask_newest_run(MetricInfo& metric, const std::string& project,
                            const std::vector<store::HistoryPoint>& points, store::Store& store) {
  if (!is_custom(metric.id) || points.empty()) return {};
  TRACEWEIR_TRY(run, store.run(project, points.back().run));
  if (!run) return {};
  TRACEWEIR_TRY(report, report::from_json(run->report_json));
  for (const metrics::RunMeasurement& row : report.measurements) {
    if (row.mean.metric != metric.id) continue;
    metric.unit = metrics::in_base_unit(row.mean).unit;
    metric.better = row.mean.better;
  }
  return {};
}

}  // namespace traceweir::api
