#include "server/wire/policy_answers.hpp"

#include <optional>

#include "server/wire/json.hpp"

namespace traceweir::wire {
namespace {

Json rule_json(const gate::LaneRule& rule) {
  return {{"metric", rule.metric}, {"judged", rule.judged},       {"failed", rule.failed},   {"warned", rule.warned},
          {"alarms", rule.alarms}, {"recovered", rule.recovered}, {"commits", rule.commits}, {"runs", rule.runs}};
}

gate::LaneRule rule_of(ObjectReader& in) {
  gate::LaneRule rule;
  rule.metric = in.text("metric");
  rule.judged = in.integer("judged");
  rule.failed = in.integer("failed");
  rule.warned = in.integer("warned");
  rule.alarms = in.integer("alarms");
  rule.recovered = in.integer("recovered");
  rule.commits = texts_of(in.child("commits"));
  rule.runs = texts_of(in.child("runs"));
  return rule;
}

}  // namespace

std::string to_json(const OutlookDocument& document) {
  Json sentences = Json::array(), rules = Json::array();
  for (const gate::RuleOutlook& rule : document.rules) {
    sentences.push_back(rule.sentence);
    rules.push_back({{"metric", rule.metric},
                     {"against", rule.against.empty() ? Json(nullptr) : Json(rule.against)},
                     {"sentence", rule.sentence},
                     {"fails_at", nullable(rule.fails_at)},
                     {"detectable", nullable(rule.detectable)},
                     {"detectable_later", nullable(rule.later)},
                     {"runs", rule.runs}});
  }
  for (const std::string& sentence : document.about) sentences.push_back(sentence);
  return dump({{"sentences", std::move(sentences)}, {"rules", std::move(rules)}});
}

Result<std::vector<std::string>> sentences_from_json(std::string_view text) {
  TRACEWEIR_TRY(json, parse_json(text));
  ObjectReader in(json);
  const Json* sentences = in.child("sentences");
  if (sentences == nullptr) in.refuse("sentences", "missing");
  if (in.error()) return tl::unexpected(*in.error());
  return texts_of(sentences);
}

std::string to_json(const BacktestDocument& document) {
  Json rules = Json::array();
  for (const gate::LaneRule& rule : document.backtest.rules) rules.push_back(rule_json(rule));
  return dump({{"policy_sha256", document.policy_sha256},
               {"runs", document.backtest.runs},
               {"judged", document.backtest.judged},
               {"rules", std::move(rules)},
               {"failed_commits", document.backtest.failed_commits},
               {"notes", document.notes}});
}

Result<BacktestDocument> backtest_from_json(std::string_view text) {
  TRACEWEIR_TRY(json, parse_json(text));
  ObjectReader in(json);
  BacktestDocument document;
  document.policy_sha256 = in.text("policy_sha256");
  document.backtest.runs = in.integer("runs");
  document.backtest.judged = in.integer("judged");
  document.backtest.failed_commits = in.integer("failed_commits");
  document.notes = texts_of(in.child("notes"));
  if (const Json* rules = in.child("rules")) {
    for (const Json& item : *rules) {
      ObjectReader inner(item);
      document.backtest.rules.push_back(rule_of(inner));
      if (inner.error()) return tl::unexpected(*inner.error());
    }
  }
  if (in.error()) return tl::unexpected(*in.error());
  return document;
}

}  // namespace traceweir::wire
