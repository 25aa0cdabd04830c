#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "server/api/auth.hpp"
#include "server/api/handlers.hpp"
#include "server/api/query_values.hpp"
#include "server/api/series_metric.hpp"
#include "server/wire/listing.hpp"

namespace traceweir::api {
namespace {

/// Changes and segments of the points that are shown, in their order.
void add_levels(const store::Levels& levels, wire::HistoryDocument& document) {
  std::unordered_set<std::string_view> named;  // few, where the points are many
  for (const store::StoredChange& change : levels.changes) named.insert(change.run);
  for (const store::StoredSegment& segment : levels.segments) named.insert(segment.last_run);
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < document.points.size() && places.size() < named.size(); ++i)
    if (named.contains(document.points[i].run)) places.emplace(document.points[i].run, i);
  const auto place_of = [&places](const std::string& run) {
    const auto found = places.find(run);
    return found == places.end() ? std::nullopt : std::optional(found->second);
  };
  for (const store::StoredChange& change : levels.changes)
    if (place_of(change.run))
      document.changes.push_back({change.run, change.commit, change.previous_commit, change.comparable_key,
                                  change.before, change.after, change.magnitude, change.p, change.better,
                                  change.accepted});
  for (const store::StoredSegment& segment : levels.segments)
    if (place_of(segment.last_run))
      document.segments.push_back({segment.comparable_key, segment.first_run, segment.first_commit, segment.last_run,
                                   segment.last_commit, segment.runs, segment.level, segment.noise,
                                   std::string(store::word(segment.began))});
  std::stable_sort(document.changes.begin(), document.changes.end(),
                   [&](const auto& a, const auto& b) { return *place_of(a.run) < *place_of(b.run); });
  std::stable_sort(document.segments.begin(), document.segments.end(),
                   [&](const auto& a, const auto& b) { return *place_of(a.last_run) < *place_of(b.last_run); });
}

wire::HistoryDocument document_of(const MetricInfo& metric, std::vector<store::HistoryPoint> points,
                                  const store::Levels& levels) {
  wire::HistoryDocument document{metric.id, std::string(word(metric.unit)), metric.better, {}};
  document.points.reserve(points.size());
  for (store::HistoryPoint& point : points) {
    wire::HistoryPoint& shown = document.points.emplace_back();
    shown.run = std::move(point.run);
    shown.commit = std::move(point.commit);
    shown.branch = std::move(point.branch);
    shown.environment = std::move(point.comparable_key);
    shown.committed_at = point.committed_at;
    shown.uploaded_at = point.uploaded_at;
    shown.value = point.value;
    shown.outcome = point.outcome;
    shown.subject = std::move(point.subject);
    shown.author = std::move(point.author);
    shown.superseded = point.superseded;
    shown.accepted = point.accepted;
    shown.in_baseline = point.in_baseline;
    shown.band = point.band;
  }
  add_levels(levels, document);
  return document;
}

Result<store::HistoryQuery> history_query(const http::Request& request, Services& services) {
  TRACEWEIR_TRY(branch, request.query.one("branch"));
  TRACEWEIR_TRY(workload, request.query.one("workload"));
  TRACEWEIR_TRY(environment, request.query.one("environment"));
  TRACEWEIR_TRY(limit, integer_in(request.query, "limit", 1, services.limits.history_points_max));
  store::HistoryQuery query;
  query.workload = workload.value_or("default");
  query.branch = branch.value_or("");
  query.environment = environment.value_or("");
  query.limit = limit.value_or(services.limits.history_points_max);
  query.now = services.now();
  return query;
}

}  // namespace

/// GET /api/v1/projects/{project}/history?metric=&branch=&workload=&environment=&limit=
/// 200 the series, oldest first, with its changes and segments; text/csv where the client asks for it
Result<http::Response> get_history(const http::Request& request, Services& services) {
  TRACEWEIR_TRY(caller, authorize(request, services, Right::read));
  TRACEWEIR_TRY_VOID(request.query.only({"metric", "branch", "workload", "environment", "limit"}));
  TRACEWEIR_TRY(metric, metric_in(request.query));
  TRACEWEIR_TRY(query, history_query(request, services));
  query.project = caller.project.name;
  query.metric = metric.id;
  TRACEWEIR_TRY(points, services.store.history(query));
  TRACEWEIR_TRY(levels, services.store.levels(query));
  TRACEWEIR_TRY_VOID(ask_newest_run(metric, query.project, points, services.store));
  const wire::HistoryDocument document = document_of(metric, std::move(points), levels);
  if (request.accepts("text/csv"))
    return http::respond(http::Status::ok, "text/csv; charset=utf-8", wire::to_csv(document));
  return http::respond(http::Status::ok, json_type, wire::to_json(document));
}

}  // namespace traceweir::api
