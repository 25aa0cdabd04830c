#include "gate/judge_rule.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/core/assert.hpp"
#include "gate/comparison.hpp"
#include "gate/history.hpp"
#include "gate/metric_facts.hpp"
#include "gate/sentences.hpp"
#include "gate/statistics.hpp"

namespace traceweir::gate {
namespace {

/// What a reason does, and what it says about the baseline.
struct Effect {
  Reason reason;
  enum class Kind { passes, warns, breaks, shown, learning, unjudged } kind;
};
constexpr Effect effects[] = {
    {Reason::within, Effect::Kind::passes},
    {Reason::better, Effect::Kind::passes},
    {Reason::worse_within_noise, Effect::Kind::warns},
    {Reason::accepted, Effect::Kind::warns},
    {Reason::over_limit, Effect::Kind::breaks},
    {Reason::worse, Effect::Kind::breaks},
    {Reason::found, Effect::Kind::breaks},
    {Reason::not_applicable, Effect::Kind::shown},
    {Reason::short_baseline, Effect::Kind::learning},
    {Reason::no_baseline, Effect::Kind::learning},
    {Reason::new_environment, Effect::Kind::learning},
    {Reason::not_measured, Effect::Kind::unjudged},
    {Reason::metric_missing, Effect::Kind::unjudged},
    {Reason::not_comparable, Effect::Kind::unjudged},
    {Reason::data_loss, Effect::Kind::unjudged},
    {Reason::missing_rank, Effect::Kind::unjudged},
    {Reason::untrusted_data, Effect::Kind::unjudged},
    {Reason::needs_confirmation, Effect::Kind::unjudged},
};

Effect::Kind effect_of(Reason reason) {
  const Effect* row = std::find_if(std::begin(effects), std::end(effects),
                                   [reason](const Effect& effect) { return effect.reason == reason; });
  TRACEWEIR_ASSERT(row != std::end(effects));
  return row->kind;
}

Outcome broken_at(Level level) { return level == Level::fail ? Outcome::fail : Outcome::warn; }

// ---- absolute limits

/// How the commit's runs stand to one limit.
enum class Holding { holds, disputed, unconfirmed, broken };

bool breaks_min(double value, const Amount& limit) { return is_above(limit.value, value); }
bool breaks_max(double value, const Amount& limit) { return is_above(value, limit.value); }

Holding holding(const RuleCase& c, double observed, const Amount& limit, bool (*breaks)(double, const Amount&)) {
  if (!breaks(observed, limit)) return Holding::holds;
  if (std::ssize(c.observed) < c.rule.confirm) return Holding::unconfirmed;
  const auto agreeing =
      std::count_if(c.observed.begin(), c.observed.end(), [&](double value) { return breaks(value, limit); });
  return agreeing >= c.rule.confirm ? Holding::broken : Holding::disputed;
}

/// The worse of both limits, and which of them is shown.
struct LimitStanding {
  Holding holding = Holding::holds;
  std::optional<Amount> limit;
  bool is_min = false;
};

LimitStanding stand_to_limits(const RuleCase& c, double observed) {
  const Rule& rule = c.rule;
  const Holding low = rule.min ? holding(c, observed, *rule.min, &breaks_min) : Holding::holds;
  const Holding high = rule.max ? holding(c, observed, *rule.max, &breaks_max) : Holding::holds;
  if (low != Holding::holds) return {low, rule.min, true};
  if (high != Holding::holds) return {high, rule.max};
  const bool min_first = rule.min && (!rule.max || c.info.better == Better::higher);
  return {Holding::holds, min_first ? rule.min : rule.max, min_first};
}

// ---- the baseline

bool has_baseline_condition(const Rule& rule) { return rule.worse_by || rule.at_least; }

/// How many runs of the current segment this rule wants before it judges.
std::int64_t runs_wanted(const RuleCase& c, const History& history) {
  std::int64_t least = 1;
  if (c.rule.noise == Noise::mad) least = static_cast<std::int64_t>(mad_runs_min);
  if (c.rule.noise == Noise::t) least = 2;
  if (c.rule.noise == Noise::automatic && history.degrees < 1) least = history.runs + 1;
  return std::max(c.options.min_runs, least);
}

/// Nothing where the baseline is long enough.
std::optional<Reason> too_short(const RuleCase& c, const History& history) {
  if (history.runs >= runs_wanted(c, history)) return std::nullopt;
  const bool others = c.baseline.other_class_runs > 0;
  const bool on_branch = c.baseline.place == Baseline::Place::baseline_branch;
  // Older segments count: an accepted change makes a short baseline, not a new environment.
  const bool few = std::ssize(c.points) < runs_wanted(c, history);
  if (others && on_branch && few) return Reason::new_environment;
  if (!c.points.empty()) return Reason::short_baseline;
  return others && !on_branch ? Reason::not_comparable : Reason::no_baseline;
}

BaselineFacts facts_of(const History& history) {
  BaselineFacts facts;
  facts.runs = std::ssize(history.current);
  facts.median = history.median;
  facts.level = history.level_value;
  // On the logarithmic scale the noise is relative.
  facts.noise = history.scale == Scale::logarithmic ? history.spread * history.level_value : history.spread;
  facts.degrees = history.degrees;
  facts.noise_runs = history.residuals;
  facts.segments = history.segments;
  facts.first = history.first;
  facts.last = history.last;
  facts.commit = history.commit;
  return facts;
}

Reason reason_for(Standing standing) {
  switch (standing) {
    case Standing::within:
      return Reason::within;
    case Standing::better:
      return Reason::better;
    case Standing::noisy:
      return Reason::worse_within_noise;
    case Standing::unconfirmed:
      return Reason::needs_confirmation;
    case Standing::worse:
      return Reason::worse;
  }
  return Reason::within;
}

// ---- putting it together

std::string tolerance_text(const Rule& rule) {
  if (rule.worse_by && rule.at_least) return fmt::format("{} and {}", rule.worse_by->text, rule.at_least->text);
  if (rule.worse_by) return rule.worse_by->text;
  return rule.at_least ? rule.at_least->text : std::string();
}

Reason reason_without_value(const RuleCase& c) {
  if (c.why_none == NotMeasured::untrusted_data) return Reason::untrusted_data;
  if (!c.points.empty()) return Reason::metric_missing;
  return c.rule.explicit_metric ? Reason::not_measured : Reason::not_applicable;
}

/// The value from which on the rule is broken: the nearest of its limits and of the baseline's threshold.
std::optional<double> nearest_failure(const Rule& rule, Better side, std::optional<double> of_baseline) {
  std::optional<double> nearest = of_baseline;
  if (side != Better::higher && rule.max) nearest = nearest ? std::min(*nearest, rule.max->value) : rule.max->value;
  if (side == Better::higher && rule.min) nearest = nearest ? std::max(*nearest, rule.min->value) : rule.min->value;
  if (!nearest && rule.max) nearest = rule.max->value;
  if (!nearest && rule.min) nearest = rule.min->value;
  return nearest;
}

/// Until other runs follow, the accepted run stands for its level by itself.
std::vector<BaselinePoint> points_of(const RuleCase& c) {
  std::vector<BaselinePoint> points(c.points.begin(), c.points.end());
  const bool alone = c.acceptance && (points.empty() || points.front().segment != 0);
  if (alone) points.insert(points.begin(), {c.acceptance->run, c.acceptance->commit, c.acceptance->value, 0});
  return points;
}

/// The steps from an empty result to a reason, each adding what it knows.
class RuleJudge {
 public:
  explicit RuleJudge(const RuleCase& rule_case) : c_(rule_case), points_(points_of(rule_case)) {
    out_.metric = c_.info.id;
    out_.against = c_.against;
    out_.unit = std::string(word(c_.info.unit));
    out_.better = c_.rule.direction.value_or(c_.info.better);
    out_.tolerance = tolerance_text(c_.rule);
    out_.level = c_.rule.level;
    out_.confirm_have = std::ssize(c_.observed);
    out_.confirm_want = c_.rule.confirm;
  }

  RuleResult result() {
    history_ = history_of({points_, c_.observed, c_.info.unit, out_.better, c_.rule.noise, c_.options.runs});
    if (history_.runs >= 1) out_.baseline = facts_of(history_);
    if (!c_.observed.empty()) observe();
    out_.reason = reason();
    if (is_about_limit()) show(mean_on(Scale::linear, c_.observed));
    out_.outcome = outcome_for(out_.reason, c_.rule.level);
    describe();
    return std::move(out_);
  }

 private:
  void observe() { show(mean_on(history_.scale, c_.observed)); }

  void show(double observed) {
    out_.observed = observed;
    if (!out_.baseline) return;
    out_.delta = *out_.observed - out_.baseline->level;
    if (out_.baseline->level != 0) out_.delta_ratio = *out_.delta / out_.baseline->level;
  }

  Reason reason() {
    if (c_.obstacle) return c_.obstacle->reason;
    if (c_.observed.empty()) return reason_without_value(c_);
    misfit_ = misfit_of(c_.rule, c_.info);
    if (misfit_) return Reason::not_comparable;
    if (c_.pinned_is_missing) return Reason::not_comparable;
    // A limit is about the values as they are; a baseline about its scale, on which means of times are geometric.
    const double plain = mean_on(Scale::linear, c_.observed);
    limits_ = stand_to_limits(c_, plain);
    out_.limit = limits_.limit;
    if (!has_baseline_condition(c_.rule)) show(plain);
    const std::optional<Reason> baseline = reason_by_baseline();
    out_.fails_at = nearest_failure(c_.rule, out_.better, comparison_ ? comparison_->fails_at : std::nullopt);
    const bool beyond = limits_.holding != Holding::holds, accepted = beyond && limit_is_accepted();
    if (limits_.holding == Holding::broken && !accepted) return Reason::over_limit;
    if (baseline == Reason::worse) return Reason::worse;
    if (accepted && baseline != Reason::needs_confirmation) return Reason::accepted;
    if (limits_.holding == Holding::unconfirmed) return Reason::needs_confirmation;
    if (limits_.holding == Holding::disputed && (!baseline || is_judged(*baseline))) return Reason::worse_within_noise;
    return baseline.value_or(Reason::within);
  }

  /// Nothing for a rule that has absolute limits only.
  std::optional<Reason> reason_by_baseline() {
    if (!has_baseline_condition(c_.rule)) return std::nullopt;
    const std::optional<Reason> short_of = too_short(c_, history_);
    // The level was accepted, and the noise is known from older segments: nobody has to learn it once more.
    const bool known = c_.acceptance && (history_.degrees >= 1 || c_.rule.noise == Noise::none);
    if (short_of && !known) return short_of;
    comparison_ = compare({history_, c_.rule, c_.info, out_.better, c_.observed});
    out_.detectable = comparison_->detectable;
    out_.band = comparison_->band;
    const Reason reason = reason_for(comparison_->standing);
    return short_of && reason == Reason::within ? Reason::accepted : reason;
  }

  /// Whether the accepted level itself is beyond the limit that this run is beyond, and this run no worse than that:
  /// not even so far that more runs have to tell.
  [[nodiscard]] bool limit_is_accepted() const {
    if (!c_.acceptance) return false;
    const auto breaks = limits_.is_min ? &breaks_min : &breaks_max;
    if (!breaks(c_.acceptance->value, *limits_.limit)) return false;
    if (history_.degrees < 1) return true;
    Rule noise_alone = c_.rule;
    noise_alone.noise = Noise::automatic;
    const Better side = limits_.is_min ? Better::higher : Better::lower;
    const Standing standing = compare({history_, noise_alone, c_.info, side, c_.observed}).standing;
    return standing != Standing::worse && standing != Standing::unconfirmed;
  }

  [[nodiscard]] bool is_about_limit() const {
    return limits_.holding != Holding::holds && out_.reason != Reason::worse;
  }

  void describe() {
    SentenceFacts facts;
    facts.unit = c_.info.unit;
    facts.why_none = c_.why_none;
    facts.runs_have = history_.runs;
    facts.runs_want = runs_wanted(c_, history_);
    facts.branch = c_.baseline.branch;
    facts.other_class_runs = c_.baseline.other_class_runs;
    if (c_.observed.size() > 1) facts.this_run = c_.observed.back();
    facts.limit_is_min = limits_.is_min;
    facts.by_limit = is_about_limit();
    facts.has_noise = c_.rule.noise != Noise::none;
    if (comparison_) facts.noise_band = comparison_->noise_band;
    facts.unchanged = comparison_ && comparison_->unchanged;
    facts.nearly_blind = comparison_ && comparison_->nearly_blind;
    facts.acceptance = c_.acceptance;
    facts.pinned_is_missing = c_.pinned_is_missing;
    if (misfit_) facts.misfit = misfit_->what, facts.misfit_next = misfit_->next;
    if (c_.obstacle) facts.obstacle = c_.obstacle->what, facts.obstacle_next = c_.obstacle->next;
    out_.sentence = sentence_for(out_, facts);
    out_.next = next_for(out_, facts);
  }

  const RuleCase& c_;
  std::vector<BaselinePoint> points_;
  RuleResult out_;
  History history_;
  std::optional<Comparison> comparison_;
  std::optional<Misfit> misfit_;
  LimitStanding limits_;
};

}  // namespace

RuleResult judge_rule(const RuleCase& rule_case) { return RuleJudge(rule_case).result(); }

std::optional<Misfit> misfit_of(const Rule& rule, const MetricInfo& info) {
  if (!is_custom(rule.metric)) return std::nullopt;
  const std::string_view unit = word(info.unit);
  for (const auto* amount : {&rule.min, &rule.max, &rule.at_least})
    if (*amount && (*amount)->unit != info.unit)
      return Misfit{fmt::format("its rule says \"{}\" where its values are in {}", (*amount)->text, unit),
                    fmt::format("Change the policy: give \"{}\" of the rule on {} in {}.", (*amount)->text, info.id,
                                info.unit == Unit::count ? "plain numbers" : unit)};
  if (rule.worse_by && rule.worse_by->kind == Tolerance::Kind::points && info.unit != Unit::ratio)
    return Misfit{fmt::format("its rule says \"{}\" where its values are no ratios", rule.worse_by->text),
                  fmt::format("Change the policy: give worse_by of the rule on {} as a percentage.", info.id)};
  const bool sided = rule.direction.value_or(info.better) != Better::none;
  if (sided || !has_baseline_condition(rule)) return std::nullopt;
  return Misfit{"neither it nor its rule says which side is better",
                fmt::format("{} has no better side: add direction = \"lower\" or \"higher\" to its rule, or give the "
                            "values one.",
                            info.id)};
}

std::optional<Outcome> outcome_for(Reason reason, Level level) {
  const Effect::Kind kind = effect_of(reason);
  if (kind == Effect::Kind::passes) return Outcome::pass;
  if (kind == Effect::Kind::shown || level == Level::info) return std::nullopt;
  if (kind == Effect::Kind::breaks) return broken_at(level);
  return kind == Effect::Kind::warns ? Outcome::warn : Outcome::inconclusive;
}

bool is_learning(Reason reason) { return effect_of(reason) == Effect::Kind::learning; }

bool is_judged(Reason reason) {
  const Effect::Kind kind = effect_of(reason);
  return kind == Effect::Kind::passes || kind == Effect::Kind::warns || kind == Effect::Kind::breaks;
}

}  // namespace traceweir::gate
