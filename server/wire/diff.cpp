#include "server/wire/diff.hpp"

#include "server/wire/explanation_json.hpp"
#include "server/wire/json.hpp"

namespace traceweir::wire {
namespace {

Json side_json(const DiffSide& side) {
  return {{"run", text_or_null(side.run)},
          {"commit", text_or_null(side.commit)},
          {"branch", text_or_null(side.branch)},
          {"workload", text_or_null(side.workload)},
          {"name", text_or_null(side.name)}};
}

Result<DiffSide> side_of(const Json* json) {
  if (json == nullptr) return DiffSide{};
  ObjectReader in(*json);
  DiffSide side{in.maybe_text("run").value_or(""), in.maybe_text("commit").value_or(""),
                in.maybe_text("branch").value_or(""), in.maybe_text("workload").value_or(""),
                in.maybe_text("name").value_or("")};
  if (in.error()) return tl::unexpected(*in.error());
  return side;
}

Json environment_json(const std::vector<gate::EnvironmentChange>& changes) {
  Json list = Json::array();
  for (const gate::EnvironmentChange& change : changes)
    list.push_back({{"key", change.key}, {"base", text_or_null(change.base)}, {"head", text_or_null(change.head)}});
  return list;
}

Json metrics_json(const std::vector<gate::MetricChange>& changes) {
  Json list = Json::array();
  for (const gate::MetricChange& change : changes)
    list.push_back({{"metric", change.metric},
                    {"unit", word(change.unit)},
                    {"base", amount(change.base, change.unit)},
                    {"head", amount(change.head, change.unit)},
                    {"delta", amount(change.head - change.base, change.unit)}});
  return list;
}

Result<std::vector<gate::EnvironmentChange>> environment_of(const Json& list) {
  std::vector<gate::EnvironmentChange> changes;
  for (const Json& item : list) {
    ObjectReader in(item);
    changes.push_back({in.text("key"), in.maybe_text("base").value_or(""), in.maybe_text("head").value_or("")});
    if (in.error()) return tl::unexpected(*in.error());
  }
  return changes;
}

Result<std::vector<gate::MetricChange>> metrics_of(const Json& list) {
  std::vector<gate::MetricChange> changes;
  for (const Json& item : list) {
    ObjectReader in(item);
    const std::string metric = in.text("metric"), unit = in.text("unit");
    changes.push_back({metric, unit_of(unit).value_or(Unit::count), in.number("base"), in.number("head")});
    if (in.error()) return tl::unexpected(*in.error());
  }
  return changes;
}

}  // namespace

std::string to_json(const DiffDocument& document) {
  const gate::Diff& diff = document.diff;
  const Json json = {{"schema", diff_schema},
                     {"summary", diff.summary},
                     {"base", side_json(document.base)},
                     {"head", side_json(document.head)},
                     {"environment", environment_json(diff.environment)},
                     {"metrics", metrics_json(diff.metrics)},
                     {"explanations", json_of(diff.explanations)},
                     {"facts", diff.facts},
                     {"workload_changed", json_of(diff.workload_changed)},
                     {"cost", json_of(diff.cost)}};
  return dump(json);
}

Result<DiffDocument> diff_from_json(std::string_view text) {
  TRACEWEIR_TRY(json, parse_json(text));
  ObjectReader in(json);
  DiffDocument document;
  if (in.text("schema") != diff_schema) in.refuse("schema", "no comparison that this version reads");
  document.diff.summary = in.text("summary");
  TRACEWEIR_TRY(base, side_of(in.child("base")));
  TRACEWEIR_TRY(head, side_of(in.child("head")));
  document.base = std::move(base);
  document.head = std::move(head);
  if (const Json* list = in.child("environment")) {
    TRACEWEIR_TRY(changes, environment_of(*list));
    document.diff.environment = std::move(changes);
  }
  if (const Json* list = in.child("metrics")) {
    TRACEWEIR_TRY(changes, metrics_of(*list));
    document.diff.metrics = std::move(changes);
  }
  if (in.error()) return tl::unexpected(*in.error());
  TRACEWEIR_TRY(explained, explained_of(json));
  document.diff.explanations = std::move(explained.explanations);
  document.diff.facts = std::move(explained.facts);
  document.diff.workload_changed = std::move(explained.workload_changed);
  document.diff.cost = std::move(explained.cost);
  return document;
}

}  // namespace traceweir::wire
