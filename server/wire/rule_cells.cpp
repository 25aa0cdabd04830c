#include "server/wire/rule_cells.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/core/text.hpp"
#include "gate/units.hpp"

namespace traceweir::wire {
namespace {

std::string amount(const std::optional<double>& value, const std::string& unit) {
  if (!value) return "-";
  const auto known = unit_of(unit);
  return known ? gate::human(*value, *known) : fmt::format("{:g} {}", *value, unit);
}

std::string baseline_cell(const gate::RuleResult& rule) {
  if (!rule.baseline) return "-";
  return fmt::format("{} ± {}", amount(rule.baseline->level, rule.unit), amount(rule.baseline->noise, rule.unit));
}

std::string delta_cell(const gate::RuleResult& rule) {
  const auto known = unit_of(rule.unit);
  if (!rule.delta || !rule.baseline || !known) return "-";
  return gate::human_delta(*rule.delta, rule.baseline->level, *known);
}

std::string tolerance_cell(const gate::RuleResult& rule) {
  std::string cell = gate::spaced(rule.tolerance);
  if (rule.limit) cell += (cell.empty() ? "limit " : ", limit ") + gate::spaced(rule.limit->text);
  return cell.empty() ? "-" : cell;
}

std::string reason_cell(const gate::RuleResult& rule) {
  std::string reason(gate::word(rule.reason));
  std::replace(reason.begin(), reason.end(), '_', ' ');
  if (rule.confirm_want > 1) reason += fmt::format(" ({} of {} runs)", rule.confirm_have, rule.confirm_want);
  return reason;
}

std::string metric_cell(const gate::RuleResult& rule) {
  const std::string metric = clean_text(rule.metric);
  return rule.against.empty() ? metric : fmt::format("{} (pinned {})", metric, clean_text(rule.against, 64));
}

}  // namespace

std::string_view outcome_word(const gate::RuleResult& rule) {
  return rule.outcome ? gate::word(*rule.outcome) : std::string_view("n/a");
}

RuleCells cells_of(const gate::RuleResult& rule) {
  const std::int64_t runs = rule.baseline ? rule.baseline->runs : 0;
  return {metric_cell(rule),
          amount(rule.observed, rule.unit),
          baseline_cell(rule),
          rule.baseline ? fmt::format("{} run{}", runs, runs == 1 ? "" : "s") : "",
          delta_cell(rule),
          tolerance_cell(rule),
          std::string(outcome_word(rule)),
          reason_cell(rule)};
}

std::vector<Advice> advice_of(const gate::Verdict& verdict) {
  std::vector<Advice> list;
  const bool open = verdict.outcome == gate::Outcome::inconclusive;
  for (const gate::RuleResult& rule : verdict.rules) {
    const bool speaks = rule.outcome ? *rule.outcome != gate::Outcome::pass : open;
    if (!speaks || rule.next.empty()) continue;
    const std::string next = clean_text(rule.next, 2048), metric = clean_text(rule.metric);
    const auto same = std::find_if(list.begin(), list.end(), [&](const Advice& row) { return row.next == next; });
    if (same == list.end())
      list.push_back({metric, next});
    else if (same->metrics != metric)
      same->metrics += ", " + metric;
  }
  return list;
}

std::string headline_of(const gate::Verdict& verdict) {
  return verdict.learning ? "learning" : std::string(gate::word(verdict.outcome));
}

}  // namespace traceweir::wire
