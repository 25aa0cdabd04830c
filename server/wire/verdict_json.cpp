#include <algorithm>

#include "server/wire/explanation_json.hpp"
#include "server/wire/json.hpp"
#include "server/wire/judge_inputs.hpp"
#include "server/wire/run_document.hpp"

namespace traceweir::wire {
namespace {

Json baseline_json(const gate::BaselineFacts& facts) {
  return {{"runs", facts.runs},         {"median", facts.median},   {"level", facts.level},
          {"noise", facts.noise},       {"degrees", facts.degrees}, {"noise_runs", facts.noise_runs},
          {"segments", facts.segments}, {"first", facts.first},     {"last", facts.last},
          {"commit", facts.commit}};
}

Json rule_json(const gate::RuleResult& rule) {
  Json json = {{"metric", rule.metric},
               {"against", rule.against.empty() ? Json(nullptr) : Json(rule.against)},
               {"outcome", rule.outcome ? Json(gate::word(*rule.outcome)) : Json(nullptr)},
               {"reason", gate::word(rule.reason)},
               {"observed", nullable(rule.observed)},
               {"unit", rule.unit},
               {"better", traceweir::word(rule.better)},
               {"limit", rule.limit ? Json(rule.limit->value) : Json(nullptr)}};
  if (rule.limit) json["limit_text"] = rule.limit->text;
  json["tolerance"] = rule.tolerance.empty() ? Json(nullptr) : Json(rule.tolerance);
  json["baseline"] = rule.baseline ? baseline_json(*rule.baseline) : Json(nullptr);
  json["delta"] = nullable(rule.delta);
  json["delta_ratio"] = nullable(rule.delta_ratio);
  json["level"] = gate::word(rule.level);
  json["detectable"] = nullable(rule.detectable);
  json["fails_at"] = nullable(rule.fails_at);
  json["confirm"] = {{"have", rule.confirm_have}, {"want", rule.confirm_want}};
  json["sentence"] = rule.sentence;
  json["next"] = rule.next;
  return json;
}

/// Reads a word of a table; an unknown one is refused under its key.
template <typename Value>
Value known(ObjectReader& in, std::string_view key, const std::optional<std::string>& text,
            std::optional<Value> (*value_of)(std::string_view), Value otherwise) {
  if (!text) return otherwise;
  const auto value = value_of(*text);
  if (!value) in.refuse(key, "unknown word");
  return value.value_or(otherwise);
}

gate::BaselineFacts baseline_of(ObjectReader& in) {
  gate::BaselineFacts facts;
  facts.runs = in.integer("runs");
  facts.median = in.number("median");
  facts.level = in.maybe_number("level").value_or(facts.median);
  facts.noise = in.number("noise");
  facts.degrees = in.maybe_number("degrees").value_or(0);
  facts.noise_runs = in.maybe_integer("noise_runs").value_or(0);
  facts.segments = in.maybe_integer("segments").value_or(0);
  facts.first = in.text("first");
  facts.last = in.text("last");
  facts.commit = in.text("commit");
  return facts;
}

std::optional<gate::Amount> limit_of(ObjectReader& in) {
  const auto value = in.maybe_number("limit");
  if (!value) return std::nullopt;
  return gate::Amount{*value, in.maybe_text("limit_text").value_or("")};
}

Result<gate::RuleResult> rule_of(const Json& json) {
  ObjectReader in(json);
  gate::RuleResult rule;
  rule.metric = in.text("metric");
  rule.against = in.maybe_text("against").value_or("");
  if (const auto text = in.maybe_text("outcome"))
    rule.outcome = known(in, "outcome", text, &gate::outcome_of, gate::Outcome::inconclusive);
  rule.reason = known(in, "reason", std::optional(in.text("reason")), &gate::reason_of, gate::Reason::within);
  rule.observed = in.maybe_number("observed");
  rule.unit = in.text("unit");
  rule.better = known(in, "better", in.maybe_text("better"), &better_of, Better::none);
  rule.limit = limit_of(in);
  rule.tolerance = in.maybe_text("tolerance").value_or("");
  if (const Json* facts = in.child("baseline")) {
    ObjectReader inner(*facts);
    rule.baseline = baseline_of(inner);
    if (inner.error()) return tl::unexpected(*inner.error());
  }
  rule.delta = in.maybe_number("delta");
  rule.delta_ratio = in.maybe_number("delta_ratio");
  rule.level = known(in, "level", in.maybe_text("level"), &gate::level_of, gate::Level::fail);
  rule.detectable = in.maybe_number("detectable");
  rule.fails_at = in.maybe_number("fails_at");
  if (const Json* confirm = in.child("confirm")) {
    ObjectReader inner(*confirm);
    rule.confirm_have = inner.integer("have");
    rule.confirm_want = inner.integer("want");
    if (inner.error()) return tl::unexpected(*inner.error());
  }
  rule.sentence = in.maybe_text("sentence").value_or("");
  rule.next = in.maybe_text("next").value_or("");
  if (in.error()) return tl::unexpected(*in.error());
  return rule;
}

Result<std::vector<std::string>> texts_of(ObjectReader& in, std::string_view key) {
  std::vector<std::string> texts;
  const Json* list = in.child(key);
  if (list == nullptr) return texts;
  for (const Json& item : *list) {
    if (!item.is_string()) return fail(ErrorCode::bad_body, std::string(key) + ": a list of texts was expected");
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

}  // namespace

std::string to_json(const VerdictDocument& document) {
  const gate::Verdict& verdict = document.verdict;
  Json rules = Json::array();
  for (const gate::RuleResult& rule : verdict.rules) rules.push_back(rule_json(rule));
  const Json json = {{"outcome", gate::word(verdict.outcome)},
                     {"learning", verdict.learning},
                     {"mode", document.mode},
                     {"summary", verdict.summary},
                     {"rules", std::move(rules)},
                     {"ancestry", verdict.ancestry},
                     {"notes", verdict.notes},
                     {"policy_source", document.policy_source},
                     {"policy_sha256", document.policy_sha256},
                     {"baseline_runs", verdict.baseline_runs},
                     {"explanations", json_of(verdict.explanations)},
                     {"facts", verdict.facts},
                     {"workload_changed", json_of(verdict.workload_changed)},
                     {"cost", json_of(verdict.cost)}};
  return dump(json);
}

Result<VerdictDocument> verdict_of(const Json& json) {
  ObjectReader in(json);
  VerdictDocument document;
  gate::Verdict& verdict = document.verdict;
  verdict.outcome = known(in, "outcome", std::optional(in.text("outcome")), &gate::outcome_of, gate::Outcome::fail);
  if (in.child("learning") != nullptr) verdict.learning = in.boolean("learning");
  document.mode = in.maybe_text("mode").value_or("gate");
  verdict.summary = in.text("summary");
  verdict.ancestry = in.maybe_text("ancestry").value_or("none");
  document.policy_source = in.maybe_text("policy_source").value_or("");
  document.policy_sha256 = in.maybe_text("policy_sha256").value_or("");
  TRACEWEIR_TRY(notes, texts_of(in, "notes"));
  TRACEWEIR_TRY(runs, texts_of(in, "baseline_runs"));
  verdict.notes = std::move(notes);
  verdict.baseline_runs = std::move(runs);
  if (const Json* rules = in.child("rules")) {
    for (const Json& item : *rules) {
      TRACEWEIR_TRY(rule, rule_of(item));
      verdict.rules.push_back(std::move(rule));
    }
  }
  if (in.error()) return tl::unexpected(*in.error());
  TRACEWEIR_TRY(explained, explained_of(json));
  verdict.explanations = std::move(explained.explanations);
  verdict.facts = std::move(explained.facts);
  verdict.workload_changed = std::move(explained.workload_changed);
  verdict.cost = std::move(explained.cost);
  return document;
}

Result<VerdictDocument> verdict_from_json(std::string_view text) {
  TRACEWEIR_TRY(json, parse_json(document_in(text)));
  return verdict_of(json);
}

}  // namespace traceweir::wire
