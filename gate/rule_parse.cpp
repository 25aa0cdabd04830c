#include "gate/rule_parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "analyzer/report/report.hpp"
#include "gate/metric_facts.hpp"
#include "gate/policy_read.hpp"
#include "gate/units.hpp"

namespace traceweir::gate {
namespace {

constexpr std::int64_t confirm_max = 5;
constexpr double sigmas_max = 10;

/// A rule being read: the nodes of its keys are kept, so that every message can name a line.
struct RuleDraft {
  Rule rule;
  std::vector<MetricInfo> metrics;  ///< the one that it names, or all that its pattern matches
  const PolicyNode* table = nullptr;
  const PolicyNode* min = nullptr;
  const PolicyNode* max = nullptr;
  const PolicyNode* worse_by = nullptr;
  const PolicyNode* at_least = nullptr;
  const PolicyNode* confirm = nullptr;
  const PolicyNode* noise = nullptr;
  const PolicyNode* sigmas = nullptr;
  const PolicyNode* direction = nullptr;
};

/// A quantity's own error, with its place and, under a pattern, the metric that it does not fit.
tl::unexpected<Error> located(const PolicyNode& node, const std::string& path, const Error& error,
                              const MetricInfo& info) {
  const bool named = path.find(info.id) != std::string::npos;
  return refuse(node, path, named ? error.message : fmt::format("{} (for {})", error.message, info.id), error.code);
}

/// A quantity may be a string with its unit, or for counts a plain number.
Result<std::string> quantity_text(const PolicyNode& node, const std::string& path) {
  const bool is_number = node.kind == PolicyNode::Kind::integer || node.kind == PolicyNode::Kind::number;
  if (!is_number) return read_text(node, path, 64);
  TRACEWEIR_TRY(number, read_number(node, path));
  return fmt::format("{}", number);
}

using ParseAmount = Result<Amount> (*)(std::string_view, Unit);

/// One amount for all metrics of a pattern: they must share the unit.
Result<Amount> amount_for(const PolicyNode& node, const std::string& path, const RuleDraft& draft, ParseAmount parse) {
  TRACEWEIR_TRY(text, quantity_text(node, path));
  const MetricInfo& first = draft.metrics.front();
  if (is_custom(first.id)) {
    Result<Amount> amount = parse_free(text);
    if (!amount) return located(node, path, amount.error(), first);
    return amount;
  }
  for (const MetricInfo& info : draft.metrics)
    if (info.unit != first.unit)
      return refuse(node, path,
                    fmt::format("\"{}\" matches metrics of different units ({} is {}, {} is {}): a quantity cannot "
                                "be meant for all of them",
                                draft.rule.metric, first.id, word(first.unit), info.id, word(info.unit)));
  Result<Amount> amount = parse(text, first.unit);
  if (!amount) return located(node, path, amount.error(), first);
  return amount;
}

Result<void> read_min(const PolicyNode& node, const std::string& path, RuleDraft& draft) {
  TRACEWEIR_TRY(amount, amount_for(node, path, draft, &parse_limit));
  draft.min = &node;
  draft.rule.min = std::move(amount);
  return {};
}

Result<void> read_max(const PolicyNode& node, const std::string& path, RuleDraft& draft) {
  TRACEWEIR_TRY(amount, amount_for(node, path, draft, &parse_limit));
  draft.max = &node;
  draft.rule.max = std::move(amount);
  return {};
}

Result<void> read_worse_by(const PolicyNode& node, const std::string& path, RuleDraft& draft) {
  TRACEWEIR_TRY(text, quantity_text(node, path));
  for (const MetricInfo& info : draft.metrics) {
    Result<Tolerance> tolerance = parse_tolerance(text, is_custom(info.id) ? Unit::ratio : info.unit);
    if (!tolerance) return located(node, path, tolerance.error(), info);
    draft.rule.worse_by = std::move(*tolerance);
  }
  draft.worse_by = &node;
  return {};
}

Result<void> read_at_least(const PolicyNode& node, const std::string& path, RuleDraft& draft) {
  TRACEWEIR_TRY(amount, amount_for(node, path, draft, &parse_step));
  draft.at_least = &node;
  draft.rule.at_least = std::move(amount);
  return {};
}

Result<void> read_level(const PolicyNode& node, const std::string& path, RuleDraft& draft) {
  static constexpr std::string_view words[] = {"fail", "warn", "info"};
  TRACEWEIR_TRY(text, read_word(node, path, words));
  draft.rule.level = *level_of(text);
  return {};
}

Result<void> read_confirm(const PolicyNode& node, const std::string& path, RuleDraft& draft) {
  TRACEWEIR_TRY(count, read_integer(node, path, 1, confirm_max));
  draft.confirm = &node;
  draft.rule.confirm = count;
  return {};
}

Result<void> read_noise(const PolicyNode& node, const std::string& path, RuleDraft& draft) {
  static constexpr std::string_view words[] = {"auto", "mad", "t", "none"};
  TRACEWEIR_TRY(text, read_word(node, path, words));
  draft.noise = &node;
  draft.rule.noise = *noise_of(text);
  return {};
}

Result<void> read_sigmas(const PolicyNode& node, const std::string& path, RuleDraft& draft) {
  TRACEWEIR_TRY(number, read_number(node, path));
  if (number <= 0 || number > sigmas_max)
    return refuse(node, path, fmt::format("{} is not above 0 and at most {}", number, sigmas_max));
  draft.sigmas = &node;
  draft.rule.sigmas = number;
  return {};
}

Result<void> read_direction(const PolicyNode& node, const std::string& path, RuleDraft& draft) {
  static constexpr std::string_view words[] = {"lower", "higher"};
  TRACEWEIR_TRY(text, read_word(node, path, words));
  draft.direction = &node;
  draft.rule.direction = better_of(text);
  for (const MetricInfo& info : draft.metrics)
    if (info.better != Better::none && info.better != *draft.rule.direction)
      return refuse(node, path, fmt::format("of {} {} is the better side", info.id, word(info.better)));
  return {};
}

constexpr KeyRow<RuleDraft> rule_rows[] = {
    {"min", &read_min},           {"max", &read_max},       {"worse_by", &read_worse_by},
    {"at_least", &read_at_least}, {"level", &read_level},   {"confirm", &read_confirm},
    {"noise", &read_noise},       {"sigmas", &read_sigmas}, {"direction", &read_direction},
};
constexpr std::array key_words = [] {
  std::array<std::string_view, std::size(rule_rows)> words;
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = rule_rows[i].key;
  return words;
}();

// ---- can such a rule hold, and can it break?

/// A demand on a draft that all its keys passed one by one. `node`: the key to blame, nullptr where the demand is met.
struct Objection {
  const PolicyNode* node = nullptr;
  std::string why;
};

Better side_of(const RuleDraft& draft, const MetricInfo& info) { return draft.rule.direction.value_or(info.better); }

Objection needs_a_condition(const RuleDraft& draft, const MetricInfo&) {
  if (draft.min || draft.max || draft.worse_by || draft.at_least) return {};
  return {draft.table, "has no condition: write min, max, worse_by or at_least"};
}

Objection needs_a_baseline_condition(const RuleDraft& draft, const MetricInfo&) {
  if (draft.worse_by || draft.at_least) return {};
  constexpr std::string_view why = "has no effect without worse_by or at_least";
  for (const PolicyNode* node : {draft.noise, draft.sigmas, draft.direction})
    if (node) return {node, std::string(why)};
  return {};
}

Objection noise_uses_sigmas(const RuleDraft& draft, const MetricInfo&) {
  if (!draft.sigmas || draft.rule.noise != Noise::none) return {};
  return {draft.sigmas, "has no effect with noise = \"none\""};
}

Objection info_is_not_confirmed(const RuleDraft& draft, const MetricInfo&) {
  if (!draft.confirm || draft.rule.level != Level::info) return {};
  return {draft.confirm, "has no effect with level = \"info\", which never fails"};
}

Objection needs_a_better_side(const RuleDraft& draft, const MetricInfo& info) {
  const PolicyNode* node = draft.worse_by ? draft.worse_by : draft.at_least;
  // Of the job's own metrics the run tells the better side; the judge says so where it does not.
  if (!node || side_of(draft, info) != Better::none || is_custom(info.id)) return {};
  return {node, fmt::format("{} has no better side: add direction = \"lower\" or \"higher\"", info.id)};
}

Objection min_can_hold(const RuleDraft& draft, const MetricInfo& info) {
  if (!draft.min) return {};
  const double value = draft.rule.min->value;
  if (is_share(info) && value > 1)
    return {draft.min, fmt::format("{} is never above 100 %, so it always fails", info.id)};
  if (value <= 0 && !is_custom(info.id))
    return {draft.min, fmt::format("{} is never below 0, so it never fails", info.id)};
  return {};
}

Objection max_can_break(const RuleDraft& draft, const MetricInfo& info) {
  if (!draft.max || !is_share(info) || draft.rule.max->value < 1) return {};
  return {draft.max, fmt::format("{} is never above 100 %, so it never fails", info.id)};
}

Objection limits_leave_room(const RuleDraft& draft, const MetricInfo&) {
  if (!draft.min || !draft.max || draft.rule.min->value <= draft.rule.max->value) return {};
  const PolicyNode* later = draft.min->line > draft.max->line ? draft.min : draft.max;
  return {later,
          fmt::format("min ({}) is above max ({}), so it always fails", draft.rule.min->text, draft.rule.max->text)};
}

Objection tolerance_can_break(const RuleDraft& draft, const MetricInfo& info) {
  if (!draft.worse_by || draft.rule.worse_by->value < 1) return {};
  const bool points = draft.rule.worse_by->kind == Tolerance::Kind::points;
  if (side_of(draft, info) == Better::higher && (!points || is_share(info)))
    return {draft.worse_by, fmt::format("{} cannot fall by {}, so it never fails", info.id, draft.rule.worse_by->text)};
  if (points && is_share(info))
    return {draft.worse_by, fmt::format("{} cannot rise by {}, so it never fails", info.id, draft.rule.worse_by->text)};
  return {};
}

Objection step_can_break(const RuleDraft& draft, const MetricInfo& info) {
  if (!draft.at_least || !is_share(info) || draft.rule.at_least->value < 1) return {};
  return {draft.at_least, fmt::format("{} cannot change by {}, so it never fails", info.id, draft.rule.at_least->text)};
}

constexpr Objection (*demands[])(const RuleDraft&, const MetricInfo&) = {
    &needs_a_condition,     &needs_a_baseline_condition, &noise_uses_sigmas,
    &info_is_not_confirmed, &needs_a_better_side,        &min_can_hold,
    &max_can_break,         &limits_leave_room,          &tolerance_can_break,
    &step_can_break,
};

Result<void> check(const RuleDraft& draft, const std::string& path) {
  for (const auto demand : demands)
    for (const MetricInfo& info : draft.metrics) {
      const Objection objection = demand(draft, info);
      if (!objection.node) continue;
      const bool whole = objection.node == draft.table;
      return refuse(*objection.node, whole ? path : path_of(path, objection.node->key), objection.why);
    }
  return {};
}

std::string unknown_metric(std::string_view id) {
  std::vector<std::string_view> ids;
  for (const MetricInfo& info : report::catalog()) ids.push_back(info.id);
  return "unknown metric" + suggestion(id, ids);
}

Result<std::vector<MetricInfo>> metrics_of(const PolicyNode& table, const std::string& path) {
  if (is_pattern(table.key)) {
    std::vector<MetricInfo> found = metrics_matching(table.key);
    if (found.empty()) return refuse(table, path, "matches no metric");
    return found;
  }
  const std::optional<MetricInfo> info = metric_info(table.key);
  if (!info) return refuse(table, path, unknown_metric(table.key));
  return std::vector{*info};
}

}  // namespace

Result<Rule> parse_rule(const PolicyNode& table, const std::string& path) {
  RuleDraft draft;
  draft.table = &table;
  draft.rule.metric = table.key;
  draft.rule.explicit_metric = !is_pattern(table.key);
  TRACEWEIR_TRY(metrics, metrics_of(table, path));
  draft.metrics = std::move(metrics);
  TRACEWEIR_TRY_VOID(read_table<RuleDraft>(table, path, rule_rows, draft));
  TRACEWEIR_TRY_VOID(check(draft, path));
  return std::move(draft.rule);
}

std::span<const std::string_view> rule_keys() { return key_words; }

}  // namespace traceweir::gate
