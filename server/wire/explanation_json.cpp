#include "server/wire/explanation_json.hpp"

#include <fmt/format.h>

#include <cmath>

namespace traceweir::wire {
namespace {

Json row_json(const gate::Contribution& row, const Unit& unit) {
  Json json = {{"cause", gate::word(row.cause)}, {"name", row.name}};
  if (!row.phase.empty()) json["phase"] = row.phase;
  json["delta"] = amount(row.delta, unit);
  if (!row.note.empty()) json["note"] = row.note;
  return json;
}

Json explanation_json(const gate::Explanation& explanation) {
  Json rows = Json::array();
  for (const gate::Contribution& row : explanation.contributions) rows.push_back(row_json(row, explanation.unit));
  return {{"metric", explanation.metric},
          {"unit", word(explanation.unit)},
          {"against_run", explanation.against_run.empty() ? Json(nullptr) : Json(explanation.against_run)},
          {"base", amount(explanation.base, explanation.unit)},
          {"head", amount(explanation.head, explanation.unit)},
          {"delta", amount(explanation.delta, explanation.unit)},
          {"sentence", explanation.sentence},
          {"contributions", std::move(rows)}};
}

gate::Contribution row_of(ObjectReader& in) {
  // A newer service may know more causes; they read as `other` with their name kept.
  return {gate::cause_of(in.text("cause")).value_or(gate::Cause::other), in.text("name"),
          in.maybe_text("phase").value_or(""), in.number("delta"), in.maybe_text("note").value_or("")};
}

Result<gate::Explanation> explanation_of(const Json& json) {
  ObjectReader in(json);
  gate::Explanation out;
  out.metric = in.text("metric");
  const std::string unit = in.text("unit");
  out.unit = unit_of(unit).value_or(Unit::count);
  out.against_run = in.maybe_text("against_run").value_or("");
  out.base = in.number("base");
  out.head = in.number("head");
  out.delta = in.number("delta");
  out.sentence = in.text("sentence");
  if (const Json* rows = in.child("contributions"))
    for (const Json& item : *rows) {
      ObjectReader row(item);
      out.contributions.push_back(row_of(row));
      if (row.error()) return tl::unexpected(*row.error());
    }
  if (in.error()) return tl::unexpected(*in.error());
  return out;
}

Result<std::vector<std::string>> texts_in(ObjectReader& in, const char* key) {
  std::vector<std::string> texts;
  if (const Json* list = in.child(key))
    for (const Json& item : *list) {
      if (!item.is_string()) return fail(ErrorCode::bad_body, fmt::format("{}: a list of texts was expected", key));
      texts.push_back(item.get<std::string>());
    }
  return texts;
}

Result<gate::WorkloadChange> change_of(const Json& json) {
  ObjectReader in(json);
  gate::WorkloadChange change{in.text("sentence"), {}};
  TRACEWEIR_TRY(reasons, texts_in(in, "reasons"));
  change.reasons = std::move(reasons);
  if (in.error()) return tl::unexpected(*in.error());
  return change;
}

Result<gate::Cost> cost_of(const Json& json) {
  ObjectReader in(json);
  gate::Cost cost;
  cost.gpus = in.integer("gpus");
  cost.gpu_hour = in.number("gpu_hour");
  cost.idle_per_hour = in.number("idle_per_hour");
  cost.exposed_per_hour = in.maybe_number("exposed_per_hour");
  cost.delta_per_hour = in.maybe_number("delta_per_hour");
  cost.sentence = in.text("sentence");
  if (in.error()) return tl::unexpected(*in.error());
  return cost;
}

}  // namespace

Json amount(double value, const Unit& unit) {
  constexpr double exact_max = 9007199254740992.0;  // 2^53
  const bool whole = unit == Unit::ns || unit == Unit::count || unit == Unit::bytes;
  if (whole && std::floor(value) == value && std::abs(value) < exact_max) return static_cast<std::int64_t>(value);
  return value;
}

Json json_of(const std::vector<gate::Explanation>& explanations) {
  Json list = Json::array();
  for (const gate::Explanation& explanation : explanations) list.push_back(explanation_json(explanation));
  return list;
}

Json json_of(const std::optional<gate::WorkloadChange>& change) {
  if (!change) return nullptr;
  return {{"sentence", change->sentence}, {"reasons", change->reasons}};
}

Json json_of(const std::optional<gate::Cost>& cost) {
  if (!cost) return nullptr;
  return {{"gpus", cost->gpus},
          {"gpu_hour", cost->gpu_hour},
          {"idle_per_hour", cost->idle_per_hour},
          {"exposed_per_hour", nullable(cost->exposed_per_hour)},
          {"delta_per_hour", nullable(cost->delta_per_hour)},
          {"sentence", cost->sentence}};
}

Result<Explained> explained_of(const Json& json) {
  ObjectReader in(json);
  Explained out;
  if (const Json* list = in.child("explanations"))
    for (const Json& item : *list) {
      TRACEWEIR_TRY(explanation, explanation_of(item));
      out.explanations.push_back(std::move(explanation));
    }
  TRACEWEIR_TRY(facts, texts_in(in, "facts"));
  out.facts = std::move(facts);
  if (const Json* change = in.child("workload_changed")) {
    TRACEWEIR_TRY(changed, change_of(*change));
    out.workload_changed = std::move(changed);
  }
  if (const Json* cost = in.child("cost")) {
    TRACEWEIR_TRY(costs, cost_of(*cost));
    out.cost = std::move(costs);
  }
  if (in.error()) return tl::unexpected(*in.error());
  return out;
}

}  // namespace traceweir::wire
