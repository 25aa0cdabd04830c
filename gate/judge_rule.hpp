// For: one rule against one metric: the reason word, the outcome, and everything that is shown beside them.
// Not for: the verdict of a run (judge.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gate/judge.hpp"
#include "gate/policy.hpp"
#include "gate/verdict.hpp"

namespace traceweir::gate {

/// Why nothing of a run may be judged: data_loss or missing_rank.
struct Obstacle {
  Reason reason = Reason::data_loss;
  std::string what;  ///< "the trace lost data (truncated)"
  std::string next;
};

/// A rule and what is known of its metric.
struct RuleCase {
  const Rule& rule;
  MetricInfo info;
  std::vector<double> observed;         ///< of the commit's runs, oldest first; empty: this run has no value
  std::optional<NotMeasured> why_none;  ///< of this run
  std::span<const BaselinePoint> points;
  const Baseline& baseline;
  const BaselineOptions& options;
  const Obstacle* obstacle = nullptr;
  const Acceptance* acceptance = nullptr;  ///< what began segment 0
  bool pinned_is_missing = false;          ///< the policy pins what has no value of this metric
  std::string against{};  ///< name of the pinned baseline that `points` are of; empty: the ordinary one
};

/// Shape: any rule and metric; a rule that does not fit its metric is never judged.
RuleResult judge_rule(const RuleCase& rule_case);

/// How a rule does not fit the metric that it is on: the policy's fault, not the data's.
struct Misfit {
  std::string what;  ///< its rule says "2 s" where its values are in tokens/s
  std::string next;
};

/// Only metrics of the job's own may not fit: their unit and better side come with their values, so that no parser of
/// policies can tell. Nothing: the rule fits.
std::optional<Misfit> misfit_of(const Rule& rule, const MetricInfo& info);

/// What a reason does at a level. Source: spec of the gate, section 1.
std::optional<Outcome> outcome_for(Reason reason, Level level);

/// A baseline that is still being built: inconclusive, but nobody did anything wrong.
bool is_learning(Reason reason);

/// Whether the reason means that the rule was judged at all.
bool is_judged(Reason reason);

}  // namespace traceweir::gate
