#include <fmt/format.h>

#include <algorithm>

#include "gate/units.hpp"
#include "server/api/auth.hpp"
#include "server/api/badge_picture.hpp"
#include "server/api/handlers.hpp"
#include "server/api/series_metric.hpp"

namespace traceweir::api {
namespace {

struct ColourRow {
  gate::Outcome outcome;
  std::string_view colour;
};
constexpr ColourRow colours[] = {
    {gate::Outcome::pass, "#2e7d32"}, {gate::Outcome::warn, "#9a6700"}, {gate::Outcome::fail, "#c62828"}};
constexpr std::string_view no_colour = "#6e7781";

std::string_view colour_of(const std::optional<gate::Outcome>& outcome) {
  for (const ColourRow& row : colours)
    if (outcome == row.outcome) return row.colour;
  return no_colour;
}

std::string word_of(const std::optional<gate::Outcome>& outcome) {
  return std::string(outcome ? gate::word(*outcome) : "no verdict");
}

/// Which runs a badge is about.
struct Place {
  std::string project, branch, workload;
};

Result<Place> place_in(const http::Request& request, const Caller& caller) {
  TRACEWEIR_TRY(branch, request.query.one("branch"));
  TRACEWEIR_TRY(workload, request.query.one("workload"));
  return Place{caller.project.name, branch.value_or("main"), workload.value_or("default")};
}

/// The newest value of a metric, coloured by its run's outcome.
Result<Badge> badge_of_metric(const http::Request& request, const Place& place, Services& services) {
  TRACEWEIR_TRY(metric, metric_in(request.query));
  store::HistoryQuery query{place.project, place.workload, place.branch, metric.id};
  query.limit = 1;
  TRACEWEIR_TRY(points, services.store.history(query));
  TRACEWEIR_TRY_VOID(ask_newest_run(metric, place.project, points, services.store));
  if (points.empty()) return Badge{metric.id, "no data", "", no_colour};
  const store::HistoryPoint& newest = points.back();
  return Badge{metric.id, gate::human(newest.value, metric.unit),
               fmt::format("{} of {}", word_of(newest.outcome), newest.commit.substr(0, 12)),
               colour_of(newest.outcome)};
}

/// How far back a verdict is looked for: newer runs may be refused, superseded or not judged yet.
constexpr std::int64_t runs_looked_at = 20;

/// The newest outcome.
Result<Badge> badge_of_outcome(const Place& place, Services& services) {
  store::RunFilter filter;
  filter.project = place.project;
  filter.branch = place.branch;
  filter.workload = place.workload;
  filter.limit = runs_looked_at;
  TRACEWEIR_TRY(runs, services.store.runs(filter));
  const auto counts = [](const store::RunRecord& run) { return run.outcome && !run.superseded; };
  const auto newest = std::find_if(runs.begin(), runs.end(), counts);
  if (newest == runs.end()) return Badge{"traceweir", "no data", "", no_colour};
  return Badge{"traceweir", word_of(newest->outcome), newest->head.commit.substr(0, 12), colour_of(newest->outcome)};
}

}  // namespace

/// GET /api/v1/projects/{project}/badge.svg?metric=&branch=&workload=
/// 200 the newest value of the metric, or without one the newest outcome; who may read the project may see it
Result<http::Response> get_badge(const http::Request& request, Services& services) {
  TRACEWEIR_TRY(caller, authorize(request, services, Right::read));
  TRACEWEIR_TRY_VOID(request.query.only({"metric", "branch", "workload"}));
  TRACEWEIR_TRY(metric, request.query.one("metric"));
  TRACEWEIR_TRY(place, place_in(request, caller));
  TRACEWEIR_TRY(badge, metric ? badge_of_metric(request, place, services) : badge_of_outcome(place, services));
  badge.title = fmt::format("{}: {} on {}, {}{}{}", badge.label, badge.message, place.branch, place.workload,
                            badge.title.empty() ? "" : "; ", badge.title);
  // A minute is new enough for a picture in a README; what only tokens may read is nobody else's to keep.
  const bool anyone = caller.token.empty();
  return http::respond(http::Status::ok, "image/svg+xml", badge_svg(badge))
      .set("Cache-Control", anyone ? "public, max-age=60" : "private, max-age=60")
      .set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
}

}  // namespace traceweir::api
