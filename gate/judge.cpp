#include "gate/judge.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "analyzer/core/assert.hpp"
#include "gate/finding_rule.hpp"
#include "gate/judge_rule.hpp"
#include "gate/metric_facts.hpp"
#include "gate/segments.hpp"
#include "gate/sentences.hpp"

namespace traceweir::gate {
namespace {

bool lost_data(const Finding& finding) { return finding.severity == Severity::data_loss; }

/// Why nothing of this run may be judged, if so.
std::optional<Obstacle> obstacle_of(const JudgedRun& run) {
  const auto lost = std::find_if(run.findings.begin(), run.findings.end(), &lost_data);
  if (lost != run.findings.end()) {
    const std::string advice = lost->advice.empty() ? "Profile the job again: the trace is not whole." : lost->advice;
    return Obstacle{Reason::data_loss, fmt::format("the trace lost data ({})", word(lost->code)), advice};
  }
  if (run.ranks_present < run.ranks_expected)
    return Obstacle{Reason::missing_rank, fmt::format("{} of {} ranks arrived", run.ranks_present, run.ranks_expected),
                    // The run was judged, so it waits for nothing: what is sent to it now comes too late.
                    fmt::format("Upload all {} again as a run of its own: with a higher attempt, or another run key.",
                                counted(run.ranks_expected, "rank"))};
  return std::nullopt;
}

/// Larger numbers are no measurements: their squares would not be numbers.
bool is_usable(double value) { return std::isfinite(value) && std::abs(value) <= 1e150; }

/// A number of the metric's unit; what is none is no measurement, whatever made it.
std::optional<double> value_of(const JudgedRun& run, const MetricInfo& info) {
  const metrics::Measurement* row = measurement_of(run, info.id);
  if (!row || !row->value || row->unit != info.unit) return std::nullopt;
  const double value = as_double(*row->value);
  return is_usable(value) ? std::optional(value) : std::nullopt;
}

/// The commit's values, oldest first; empty where the run that is answered has none.
std::vector<double> values_of(std::span<const JudgedRun> runs, const MetricInfo& info) {
  std::vector<double> values;
  if (!value_of(runs.back(), info)) return values;
  for (const JudgedRun& run : runs)
    if (const auto value = value_of(run, info)) values.push_back(*value);
  return values;
}

std::optional<NotMeasured> why_none(const JudgedRun& run, const MetricInfo& info) {
  const metrics::Measurement* row = measurement_of(run, info.id);
  if (!row) return std::nullopt;
  const bool unusable = row->value && !value_of(run, info);
  return unusable ? NotMeasured::untrusted_data : row->not_measured;
}

/// What patterns are matched with: what the run measures, and what its baseline does, so that nothing vanishes unseen.
std::vector<std::string> known_ids(const JudgedRun& run, const Baseline& baseline) {
  std::vector<std::string> ids;
  for (const metrics::Measurement& row : run.measurements) ids.push_back(row.metric);
  for (const auto& [metric, points] : baseline.series)
    if (!points.empty() && measurement_of(run, metric) == nullptr) ids.push_back(metric);
  return ids;
}

std::vector<BaselinePoint> points_of(const Baseline& baseline, const std::string& metric) {
  const auto series = baseline.series.find(metric);
  if (series == baseline.series.end()) return {};
  std::vector<BaselinePoint> points = series->second;
  std::erase_if(points, [](const BaselinePoint& point) { return !is_usable(point.value); });
  return points;
}

const Acceptance* accepted_in(const Baseline& baseline, const std::string& metric) {
  const auto found = baseline.accepted.find(metric);
  return found == baseline.accepted.end() ? nullptr : &found->second;
}

/// The same rule against the pinned level, or against the level that was accepted since. The noise is that of the
/// ordinary baseline: a pinned tag is one run or a few.
RuleResult judge_pinned(const RuleCase& ordinary) {
  Rule rule = ordinary.rule;
  rule.min.reset(), rule.max.reset();
  if (rule.noise != Noise::none) rule.noise = Noise::automatic;
  const PinnedBaseline& pinned = *ordinary.baseline.pinned;
  std::vector<BaselinePoint> points;
  const auto moved = pinned.accepted.find(rule.metric);
  const bool is_moved = moved != pinned.accepted.end();
  if (is_moved)
    points.push_back({moved->second.run, moved->second.commit, moved->second.value, 0});
  else if (const auto series = pinned.series.find(rule.metric); series != pinned.series.end())
    points = series->second;
  const bool missing = points.empty();
  for (BaselinePoint& point : points) point.segment = 0;
  // A level that drifts is what the pin is for: it must not count as noise.
  std::vector<BaselinePoint> noise(ordinary.points.begin(), ordinary.points.end());
  number_levels(noise);
  for (const BaselinePoint& point : noise) points.push_back({point.run, point.commit, point.value, point.segment + 1});
  BaselineOptions options = ordinary.options;
  options.min_runs = 1;
  RuleCase rule_case{rule,   ordinary.info,     ordinary.observed, ordinary.why_none,
                     points, ordinary.baseline, options,           ordinary.obstacle};
  rule_case.against = is_moved ? fmt::format("the level accepted at run {}", moved->second.run) : pinned.name;
  rule_case.pinned_is_missing = missing;
  return judge_rule(rule_case);
}

/// Earlier runs of the commit that count: whole ones. The last is the one that is answered, whole or not.
std::vector<JudgedRun> counted_runs(std::span<const JudgedRun> runs, std::vector<std::string>& notes) {
  std::vector<JudgedRun> counted;
  for (const JudgedRun& run : runs.first(runs.size() - 1)) {
    if (!obstacle_of(run))
      counted.push_back(run);
    else
      notes.push_back(fmt::format("Run {} of this commit is left out: it is not whole.", run.id));
  }
  counted.push_back(runs.back());
  return counted;
}

/// What is known of the rule's metric; of one of the job's own its unit and better side, from the run.
MetricInfo info_for(const Rule& rule, const JudgedRun& run) {
  std::optional<MetricInfo> info = metric_info(rule.metric);
  TRACEWEIR_ASSERT(info.has_value());
  const metrics::Measurement* row = is_custom(rule.metric) ? measurement_of(run, rule.metric) : nullptr;
  if (row) info->unit = row->unit, info->better = row->better;
  return *std::move(info);
}

/// Why the values of a metric of the job's own are not those of its baseline; empty: they are. A run must not choose
/// what it is compared in, nor which side is the better one.
std::string strangeness_of(const Rule& rule, const MetricInfo& info, const Baseline& baseline) {
  const auto kind = baseline.kinds.find(rule.metric);
  if (kind == baseline.kinds.end() || !(rule.worse_by || rule.at_least)) return {};
  const auto& [unit, better] = kind->second;
  if (info.unit != unit)
    return fmt::format("its values are in {} here, and in {} in the baseline", word(info.unit), word(unit));
  const bool turned = better != Better::none && info.better != better && !rule.direction;
  return turned ? fmt::format("its better side is {} here, and {} in the baseline", word(info.better), word(better))
                : std::string();
}

/// As judge_rule() says it of what cannot be compared, with the reason.
void explain_strangeness(const std::string& strangeness, RuleResult& result) {
  result.sentence = fmt::format("{} cannot be judged: {}", result.metric, strangeness);
  result.next = fmt::format(
      "Give {} as the baseline has it. What it means is new? Then give it another name, or begin anew with "
      "baseline.epoch.",
      result.metric);
}

std::vector<RuleResult> judge_rules(std::span<const JudgedRun> runs, const Baseline& baseline, const Policy& policy) {
  const JudgedRun& run = runs.back();
  const std::optional<Obstacle> obstacle = obstacle_of(run);
  std::vector<RuleResult> results;
  for (const Rule& rule : rules_for(policy, known_ids(run, baseline))) {
    const MetricInfo info = info_for(rule, run);
    const std::vector<BaselinePoint> points = points_of(baseline, rule.metric);
    const std::vector<double> values = values_of(runs, info);
    const std::string strangeness = values.empty() ? std::string() : strangeness_of(rule, info, baseline);
    const bool strange = !strangeness.empty();
    const RuleCase rule_case{rule,
                             info,
                             strange ? std::vector<double>{} : values,
                             strange ? NotMeasured::untrusted_data : why_none(run, info),
                             points,
                             baseline,
                             policy.baseline,
                             obstacle ? &*obstacle : nullptr,
                             accepted_in(baseline, rule.metric)};
    results.push_back(judge_rule(rule_case));
    if (strange && !obstacle) explain_strangeness(strangeness, results.back());
    const bool fits = !strange && (values.empty() || !misfit_of(rule, info));
    if (fits && baseline.pinned && (rule.worse_by || rule.at_least)) results.push_back(judge_pinned(rule_case));
  }
  for (const FindingRule& rule : policy.findings) results.push_back(judge_finding(rule, run, obstacle));
  return results;
}

int weight(const RuleResult& result) { return result.outcome ? static_cast<int>(*result.outcome) : -1; }

/// What one rule does, and what several do.
struct OutcomeVerbs {
  Outcome outcome;
  std::string_view one, several;
};
constexpr OutcomeVerbs outcome_verbs[] = {
    {Outcome::pass, "holds", "hold"},
    {Outcome::warn, "warns", "warn"},
    {Outcome::inconclusive, "is inconclusive", "are inconclusive"},
    {Outcome::fail, "fails", "fail"},
};

std::string_view verb_of(Outcome outcome, std::int64_t rules) {
  const OutcomeVerbs* row = std::find_if(std::begin(outcome_verbs), std::end(outcome_verbs),
                                         [outcome](const OutcomeVerbs& verbs) { return verbs.outcome == outcome; });
  TRACEWEIR_ASSERT(row != std::end(outcome_verbs));
  return rules == 1 ? row->one : row->several;
}

/// "(and 2 more rules fail)", after the worst rule's sentence.
std::string others_text(std::span<const RuleResult> rules, Outcome outcome) {
  const auto same =
      std::count_if(rules.begin(), rules.end(), [&](const RuleResult& r) { return r.outcome == outcome; });
  if (same <= 1) return {};
  return fmt::format(" (and {} {})", counted(same - 1, "more rule"), verb_of(outcome, same - 1));
}

/// Rules of level info are shown and never counted.
bool counts(const RuleResult& rule) { return rule.level != Level::info; }
bool counts_as_judged(const RuleResult& rule) { return counts(rule) && is_judged(rule.reason); }

std::string summary_of(const Verdict& verdict) {
  if (verdict.rules.empty()) return "nothing was judged: the policy has no rule";
  const auto counted_rules = std::count_if(verdict.rules.begin(), verdict.rules.end(), &counts);
  if (counted_rules == 0) return "nothing was judged: every rule has the level info, which is shown and never counted";
  const auto judged = std::count_if(verdict.rules.begin(), verdict.rules.end(), &counts_as_judged);
  const RuleResult& worst = *std::find_if(verdict.rules.begin(), verdict.rules.end(), &counts);
  if (!worst.outcome && judged == 0) return fmt::format("nothing was judged: {}", worst.sentence);
  if (verdict.outcome != Outcome::pass) return worst.sentence + others_text(verdict.rules, verdict.outcome);
  const std::string count = judged == counted_rules ? counted(judged, "rule")
                                                    : fmt::format("{} of {}", judged, counted(counted_rules, "rule"));
  return fmt::format("{} {}: {}", count, verb_of(Outcome::pass, judged), worst.sentence);
}

Outcome outcome_of(std::span<const RuleResult> rules) {
  Outcome worst = std::any_of(rules.begin(), rules.end(), &counts_as_judged) ? Outcome::pass : Outcome::inconclusive;
  for (const RuleResult& rule : rules)
    if (rule.outcome) worst = std::max(worst, *rule.outcome);
  return worst;
}

bool only_learning(std::span<const RuleResult> rules) {
  bool any = false;
  for (const RuleResult& rule : rules) {
    if (rule.outcome == Outcome::inconclusive && !is_learning(rule.reason)) return false;
    any = any || (counts(rule) && is_learning(rule.reason));
  }
  return any;
}

}  // namespace

const metrics::Measurement* measurement_of(const JudgedRun& run, std::string_view metric) {
  const auto row = std::find_if(run.measurements.begin(), run.measurements.end(),
                                [metric](const metrics::Measurement& m) { return m.metric == metric; });
  return row == run.measurements.end() ? nullptr : &*row;
}

Verdict judge(std::span<const JudgedRun> runs, const Baseline& baseline, const Policy& policy) {
  TRACEWEIR_ASSERT(!runs.empty());
  Verdict verdict;
  verdict.ancestry = baseline.ancestry;
  verdict.notes = baseline.notes;
  verdict.baseline_runs = baseline.runs;
  verdict.rules = judge_rules(counted_runs(runs, verdict.notes), baseline, policy);
  std::stable_sort(verdict.rules.begin(), verdict.rules.end(),
                   [](const RuleResult& a, const RuleResult& b) { return weight(a) > weight(b); });
  verdict.outcome = outcome_of(verdict.rules);
  verdict.learning = verdict.outcome == Outcome::inconclusive && only_learning(verdict.rules);
  verdict.summary = summary_of(verdict);
  return verdict;
}

}  // namespace traceweir::gate
