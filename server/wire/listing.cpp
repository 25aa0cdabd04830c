#include "server/wire/listing.hpp"

#include <fmt/format.h>

#include "server/wire/json.hpp"

namespace traceweir::wire {
namespace {

Json point_json(const HistoryPoint& point) {
  return {{"run", point.run},
          {"commit", point.commit},
          {"branch", point.branch.empty() ? Json(nullptr) : Json(point.branch)},
          {"committed_at", point.committed_at ? Json(to_rfc3339(*point.committed_at)) : Json(nullptr)},
          {"uploaded_at", to_rfc3339(point.uploaded_at)},
          {"value", point.value},
          {"outcome", point.outcome ? Json(gate::word(*point.outcome)) : Json(nullptr)},
          {"environment", point.environment}};
}

Result<HistoryPoint> point_of(const Json& json) {
  ObjectReader in(json);
  HistoryPoint point;
  point.run = in.text("run");
  point.commit = in.text("commit");
  point.branch = in.maybe_text("branch").value_or("");
  point.environment = in.maybe_text("environment").value_or("");
  if (const auto text = in.maybe_text("committed_at")) point.committed_at = from_rfc3339(*text);
  const auto uploaded = from_rfc3339(in.text("uploaded_at"));
  if (!uploaded) in.refuse("uploaded_at", "a time was expected");
  point.uploaded_at = uploaded.value_or(Timestamp{});
  point.value = in.number("value");
  if (const auto text = in.maybe_text("outcome")) point.outcome = gate::outcome_of(*text);
  if (in.error()) return tl::unexpected(*in.error());
  return point;
}

/// Quotes a field where it needs it. A leading `=`, `+`, `-`, `@` would be run as a formula by spreadsheets.
std::string csv_field(std::string_view text) {
  std::string field;
  if (!text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos) field += '\'';
  field += text;
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string quoted = "\"";
  for (const char c : field) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

std::string list_of(const std::vector<RunDocument>& runs) {
  std::string list = "[";
  for (const RunDocument& run : runs) {
    if (list.size() > 1) list += ',';
    list += to_json(run, Detail::head_only);
  }
  return list + "]";
}

}  // namespace

std::string to_json(const HistoryDocument& history) {
  Json points = Json::array();
  for (const HistoryPoint& point : history.points) points.push_back(point_json(point));
  return dump(Json{{"metric", history.metric},
                   {"unit", history.unit},
                   {"better", traceweir::word(history.better)},
                   {"points", std::move(points)},
                   {"change_points", Json::array()},
                   {"segments", Json::array()},
                   {"next", nullptr}});
}

std::string to_csv(const HistoryDocument& history) {
  std::string csv = "run,commit,branch,committed_at,uploaded_at,value,unit,outcome,environment\r\n";
  for (const HistoryPoint& point : history.points) {
    csv += fmt::format("{},{},{},{},{},{},{},{},{}\r\n", csv_field(point.run), csv_field(point.commit),
                       csv_field(point.branch), point.committed_at ? to_rfc3339(*point.committed_at) : "",
                       to_rfc3339(point.uploaded_at), point.value, history.unit,
                       point.outcome ? gate::word(*point.outcome) : "", csv_field(point.environment));
  }
  return csv;
}

Result<HistoryDocument> history_from_json(std::string_view text) {
  TRACEWEIR_TRY(json, parse_json(text));
  ObjectReader in(json);
  HistoryDocument history;
  history.metric = in.text("metric");
  history.unit = in.text("unit");
  history.better = better_of(in.text("better")).value_or(Better::none);
  if (const Json* points = in.child("points")) {
    for (const Json& item : *points) {
      TRACEWEIR_TRY(point, point_of(item));
      history.points.push_back(std::move(point));
    }
  }
  if (in.error()) return tl::unexpected(*in.error());
  return history;
}

std::string runs_to_json(const std::vector<RunDocument>& runs, std::string_view next) {
  return fmt::format(R"({{"runs":{},"next":{}}})", list_of(runs), next.empty() ? "null" : dump(Json(next)));
}

Result<RunPage> runs_from_json(std::string_view text) {
  TRACEWEIR_TRY(json, parse_json(text));
  ObjectReader in(json);
  RunPage page;
  page.next = in.maybe_text("next").value_or("");
  if (const Json* runs = in.child("runs")) {
    for (const Json& item : *runs) {
      TRACEWEIR_TRY(run, run_of(item));
      page.runs.push_back(std::move(run));
    }
  }
  if (in.error()) return tl::unexpected(*in.error());
  return page;
}

std::string commit_to_json(std::string_view sha, const std::optional<gate::Outcome>& outcome,
                           const std::vector<RunDocument>& runs) {
  const Json verdict = outcome ? Json(gate::word(*outcome)) : Json(nullptr);
  return fmt::format(R"({{"commit":{},"outcome":{},"runs":{}}})", dump(Json(sha)), dump(verdict), list_of(runs));
}

}  // namespace traceweir::wire
