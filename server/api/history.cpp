#include "server/api/auth.hpp"
#include "server/api/handlers.hpp"
#include "server/api/query_values.hpp"
#include "server/api/series_metric.hpp"
#include "server/wire/listing.hpp"

namespace traceweir::api {
namespace {

wire::HistoryDocument document_of(const MetricInfo& metric, const std::vector<store::HistoryPoint>& points) {
  wire::HistoryDocument document{metric.id, std::string(word(metric.unit)), metric.better, {}};
  for (const store::HistoryPoint& point : points)
    document.points.push_back({point.run, point.commit, point.branch, point.comparable_key, point.committed_at,
                               point.uploaded_at, point.value, point.outcome});
  return document;
}

}  // namespace

/// GET /api/v1/projects/{project}/history?metric=&branch=&workload=&limit=
/// 200 the series, oldest first; text/csv where the client asks for it
Result<http::Response> get_history(const http::Request& request, Services& services) {
  TRACEWEIR_TRY(caller, authorize(request, services, Right::read));
  TRACEWEIR_TRY_VOID(request.query.only({"metric", "branch", "workload", "limit"}));
  TRACEWEIR_TRY(metric, metric_in(request.query));
  TRACEWEIR_TRY(branch, request.query.one("branch"));
  TRACEWEIR_TRY(workload, request.query.one("workload"));
  TRACEWEIR_TRY(limit, integer_in(request.query, "limit", 1, services.limits.history_points_max));
  store::HistoryQuery query;
  query.project = caller.project.name;
  query.workload = workload.value_or("default");
  query.branch = branch.value_or("");
  query.metric = metric.id;
  query.limit = limit.value_or(services.limits.history_points_max);
  TRACEWEIR_TRY(points, services.store.history(query));
  TRACEWEIR_TRY_VOID(ask_newest_run(metric, query.project, points, services.store));
  const wire::HistoryDocument document = document_of(metric, points);
  if (request.accepts("text/csv"))
    return http::respond(http::Status::ok, "text/csv; charset=utf-8", wire::to_csv(document));
  return http::respond(http::Status::ok, json_type, wire::to_json(document));
}

}  // namespace traceweir::api
