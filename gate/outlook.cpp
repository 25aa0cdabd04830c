#include "gate/outlook.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "gate/comparison.hpp"
#include "gate/history.hpp"
#include "gate/judge_rule.hpp"
#include "gate/sentences.hpp"
#include "gate/units.hpp"

namespace traceweir::gate {
namespace {

/// A run as the next one may be: as the newest, and whole.
JudgedRun next_run(const JudgedRun& newest) {
  JudgedRun run = newest;
  run.id = "next";
  run.ranks_expected = run.ranks_present = std::max(run.ranks_expected, run.ranks_present);
  std::erase_if(run.findings, [](const Finding& finding) { return finding.severity == Severity::data_loss; });
  return run;
}

const RuleResult* find(const Verdict& verdict, const RuleResult& wanted) {
  const auto it = std::find_if(verdict.rules.begin(), verdict.rules.end(), [&](const RuleResult& rule) {
    return rule.metric == wanted.metric && rule.against == wanted.against;
  });
  return it == verdict.rules.end() ? nullptr : &*it;
}

/// The run again, with the level of each metric as its value.
void put_levels(JudgedRun& run, const Verdict& verdict) {
  for (metrics::Measurement& row : run.measurements)
    for (const RuleResult& rule : verdict.rules)
      if (rule.metric == row.metric && rule.against.empty() && rule.baseline && row.value)
        row.value = rule.baseline->level;
}

/// The baseline as it will be when so many more runs came whose noise is the one that is known: each is one standard
/// deviation above or below the level in turn, which changes neither.
Baseline grown(const Baseline& baseline, const Verdict& verdict) {
  Baseline later = baseline;
  for (auto& [metric, points] : later.series) {
    RuleResult wanted;
    wanted.metric = metric;
    const RuleResult* rule = find(verdict, wanted);
    if (rule == nullptr || !rule->baseline || points.empty()) continue;
    const double level = rule->baseline->level, noise = std::min(rule->baseline->noise, 0.99 * std::abs(level));
    std::vector<BaselinePoint> more;
    for (std::int64_t i = 0; i < outlook_runs; ++i)
      more.push_back({"later", "later", i % 2 == 0 ? level + noise : level - noise, 0});
    points.insert(points.begin(), more.begin(), more.end());
    if (points.size() > noise_runs_max) points.resize(noise_runs_max);
  }
  return later;
}

// ---- words

std::string_view would(Level level) {
  if (level == Level::fail) return "would fail";
  return level == Level::warn ? "would warn" : "would be shown as broken";
}

Unit unit_in(const RuleResult& rule) { return unit_of(rule.unit).value_or(Unit::count); }

/// "± 0.9 %", of ratios "± 0.4 pp".
std::string noise_text(const RuleResult& rule) {
  const BaselineFacts& facts = *rule.baseline;
  if (facts.degrees < 1) return "of unknown noise";
  if (unit_in(rule) == Unit::ratio) return fmt::format("± {:.1f} pp", facts.noise * 100);
  if (facts.level == 0) return fmt::format("± {}", human(facts.noise, unit_in(rule)));
  return fmt::format("± {:.1f} %", facts.noise / std::abs(facts.level) * 100);
}

std::string worsening_text(const RuleResult& rule, const std::optional<double>& amount) {
  if (!amount) return "nothing";
  return human_delta(rule.better == Better::higher ? -*amount : *amount, rule.baseline->level, unit_in(rule));
}

/// Whether the rule is broken below its threshold. An absolute limit shows its side by how the value stands to it.
bool breaks_below(const RuleResult& rule) {
  if (!rule.fails_at || !rule.observed || *rule.observed == *rule.fails_at) return rule.better == Better::higher;
  return (*rule.observed < *rule.fails_at) == (rule.reason == Reason::over_limit);
}

std::string threshold_text(const RuleResult& rule) {
  if (!rule.fails_at) return fmt::format("no value that it can have {}", would(rule.level));
  return fmt::format(
      "{} {} {}", would(rule.level), breaks_below(rule) ? "below" : "above",
      human_pair(rule.baseline ? rule.baseline->level : *rule.fails_at, *rule.fails_at, unit_in(rule)).to);
}

std::string confirm_text(const RuleResult& rule) {
  return rule.confirm_want > 1 ? fmt::format(", once {} of a commit agree", counted(rule.confirm_want, "run")) : "";
}

std::string name_of(const RuleResult& rule) {
  return rule.against.empty() ? rule.metric : fmt::format("{} against {}", rule.metric, rule.against);
}

/// "can see +7 % today, +5 % after 20 more runs"
std::string sight_text(const RuleResult& rule, const std::optional<double>& later) {
  if (!rule.baseline || (!rule.detectable && !later)) return {};
  const std::string after = fmt::format("{} after {} more runs", worsening_text(rule, later), outlook_runs);
  return fmt::format("; can see {} today, {}", worsening_text(rule, rule.detectable), after);
}

std::string judged_text(const RuleResult& rule, const std::optional<double>& later) {
  const std::string level = rule.baseline && !rule.tolerance.empty()
                                ? fmt::format("{}, level {} {}: ", counted(rule.baseline->runs, "run"),
                                              human(rule.baseline->level, unit_in(rule)), noise_text(rule))
                                : std::string();
  const bool broken = rule.reason == Reason::over_limit;
  const std::string today = broken ? "; today's level is beyond it" : "";
  // What `within` says next is that the rule is nearly blind.
  const std::string blind = rule.reason == Reason::within && !rule.next.empty() ? " " + rule.next : "";
  return fmt::format("{}: {}{}{}{}{}.{}", name_of(rule), level, threshold_text(rule), confirm_text(rule), today,
                     sight_text(rule, later), blind);
}

std::string learning_text(const RuleResult& rule) {
  const std::string limit = rule.fails_at ? fmt::format(" Already now it {}.", threshold_text(rule)) : "";
  return fmt::format("{}: {}, too few to judge by. {}{}", name_of(rule),
                     counted(rule.baseline ? rule.baseline->runs : 0, "run"), rule.next, limit);
}

std::string finding_text(const RuleResult& rule) {
  const std::string newest = rule.reason == Reason::found ? "; the newest run has it" : "";
  return fmt::format("{}: {} where it is made{}.", rule.metric, would(rule.level), newest);
}

std::string sentence_of(const RuleResult& rule, const std::optional<double>& later, const std::string& branch) {
  const bool is_finding = rule.metric.starts_with("finding:");
  if (is_finding && is_judged(rule.reason)) return finding_text(rule);
  if (is_learning(rule.reason)) return learning_text(rule);
  if (is_judged(rule.reason) || rule.reason == Reason::needs_confirmation) return judged_text(rule, later);
  if (rule.reason == Reason::not_applicable)
    return fmt::format("{}: no run of {} measures it, and it is left out.", name_of(rule), branch);
  return fmt::format("{}: would be inconclusive ({}): {}{}{}", name_of(rule), word(rule.reason), rule.sentence,
                     rule.next.empty() ? "." : ". ", rule.next);
}

// ---- without any run

std::string limits_text(const Rule& rule) {
  const std::string low = rule.min ? "below " + spaced(rule.min->text) : std::string();
  const std::string high = rule.max ? "above " + spaced(rule.max->text) : std::string();
  const std::string_view between = rule.min && rule.max ? " and " : "";
  return fmt::format("{} {}{}{} from the first run on", would(rule.level), low, between, high);
}

std::string first_run_text(const Rule& rule, const Policy& policy, const std::string& branch) {
  const bool limited = rule.min || rule.max;
  if (!rule.worse_by && !rule.at_least)
    return fmt::format("{}: no run of {} yet; {}.", rule.metric, branch, limits_text(rule));
  const std::int64_t wanted = policy.baseline.min_runs;
  return fmt::format("{}: no run of {} yet, learning 0/{}. Upload {} of it; then this rule is judged.{}", rule.metric,
                     branch, wanted, counted(wanted, "run"),
                     limited ? fmt::format(" Its limits {}.", limits_text(rule)) : std::string());
}

/// Nothing is known of a workload without runs, not even what its traces measure: the policy's own rules, as they are.
std::vector<RuleOutlook> before_the_first_run(const Policy& policy, const Baseline& baseline) {
  std::vector<RuleOutlook> rows;
  for (const Rule& rule : policy.rules)
    rows.push_back({rule.metric, {}, first_run_text(rule, policy, baseline.branch), 0, {}, {}, {}});
  for (const FindingRule& rule : policy.findings) {
    const std::string name = fmt::format("finding:{}", word(rule.code));
    rows.push_back({name, {}, fmt::format("{}: {} where it is made.", name, would(rule.level)), 0, {}, {}, {}});
  }
  return rows;
}

void sort_rows(std::vector<RuleOutlook>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const RuleOutlook& a, const RuleOutlook& b) {
    const auto rank = [](const RuleOutlook& row) { return row.metric.starts_with("finding:") ? 1 : 0; };
    return std::tuple(rank(a), a.metric, a.against) < std::tuple(rank(b), b.metric, b.against);
  });
}

}  // namespace

std::vector<RuleOutlook> outlook_of(const Policy& policy, const Baseline& baseline, const JudgedRun& newest) {
  if (newest.measurements.empty() && baseline.series.empty()) {
    std::vector<RuleOutlook> rows = before_the_first_run(policy, baseline);
    sort_rows(rows);
    return rows;
  }
  JudgedRun run = next_run(newest);
  put_levels(run, judge(std::vector{run}, baseline, policy));
  const Verdict today = judge(std::vector{run}, baseline, policy);
  const Verdict later = judge(std::vector{run}, grown(baseline, today), policy);
  std::vector<RuleOutlook> rows;
  for (const RuleResult& rule : today.rules) {
    const RuleResult* then = find(later, rule);
    const std::optional<double> sees = then && is_judged(rule.reason) ? then->detectable : std::nullopt;
    rows.push_back({rule.metric, rule.against, sentence_of(rule, sees, baseline.branch),
                    rule.baseline ? rule.baseline->runs : 0, rule.fails_at, rule.detectable, sees});
  }
  sort_rows(rows);
  return rows;
}

}  // namespace traceweir::gate
