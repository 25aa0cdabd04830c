// For: the answer of the gate, as values. Wire and store keep it; nobody behind the judge decides anything.
// Not for: JSON (server/wire).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/metric.hpp"
#include "gate/explanation.hpp"
#include "gate/policy.hpp"

namespace traceweir::gate {

/// In order of weight: the worst wins.
enum class Outcome { pass, warn, inconclusive, fail };
std::string_view word(Outcome outcome);
std::optional<Outcome> outcome_of(std::string_view word);

/// Why a rule has its outcome. Source: spec of the gate, section 1.
enum class Reason {
  within,
  better,
  worse_within_noise,
  accepted,
  over_limit,
  worse,
  not_applicable,
  short_baseline,
  no_baseline,
  new_environment,
  not_measured,
  metric_missing,
  not_comparable,
  data_loss,
  missing_rank,
  untrusted_data,
  needs_confirmation,
  found,  ///< a finding that is a rule was found
};
std::string_view word(Reason reason);
std::optional<Reason> reason_of(std::string_view word);

/// What a value was compared with. Units: those of the metric.
struct BaselineFacts {
  std::int64_t runs = 0;
  double median = 0;
  double level = 0;             ///< what deltas are taken against
  double noise = 0;             ///< standard deviation on the metric's own scale, at the level
  double degrees = 0;           ///< of freedom of the noise
  std::int64_t noise_runs = 0;  ///< residuals that it was pooled from
  std::int64_t segments = 0;
  std::string first, last;  ///< run ids, oldest and newest
  std::string commit;       ///< of the newest
};

/// Where values of the commit raise no alarm by the noise of the baseline, around its level. Units: the metric's.
struct NoiseBand {
  double level = 0, low = 0, high = 0;
  friend bool operator==(const NoiseBand&, const NoiseBand&) = default;
};

struct RuleResult {
  std::string metric;              ///< or `finding:CODE`
  std::string against;             ///< the pinned tag or run that was compared with; empty: the baseline branch
  std::optional<Outcome> outcome;  ///< none: not_applicable, shown but not counted
  Reason reason = Reason::within;
  std::optional<double> observed;  ///< mean of the commit's runs where there are several
  std::string unit;
  Better better = Better::none;
  std::optional<Amount> limit;  ///< the absolute limit that was judged (broken one first)
  std::string tolerance;        ///< "3pp", "10% and 0.1 ms"; empty: none
  std::optional<BaselineFacts> baseline;
  std::optional<double> delta, delta_ratio;
  Level level = Level::fail;
  std::optional<double> detectable;  ///< smallest worsening found with 80 % probability; unit of the metric
  std::optional<double> fails_at;    ///< the value from which on this rule is broken; unit of the metric
  std::optional<NoiseBand> band;     ///< of a rule that was compared with a baseline
  std::int64_t confirm_have = 1, confirm_want = 1;
  std::string sentence;  ///< what was seen, for a person: "gpu.utilization fell from 89.1 % to 68.0 % (…)"
  std::string next;      ///< one sentence: what to do
};

struct Verdict {
  Outcome outcome = Outcome::inconclusive;
  bool learning = false;           ///< inconclusive for no other reason than a baseline still being built
  std::string summary;             ///< one sentence, the worst rule first
  std::vector<RuleResult> rules;   ///< worst first
  std::string ancestry;            ///< `known`, `unknown`, `none`
  std::vector<std::string> notes;  ///< sentences about where the baseline came from
  std::vector<std::string> baseline_runs;
  // Why, where something is worse (server/pipeline asks explain.hpp for it; the judge leaves these empty).
  std::vector<Explanation> explanations;           ///< worst rule first
  std::vector<std::string> facts;                  ///< sentences beside them
  std::optional<WorkloadChange> workload_changed;  ///< these numbers are of another program
  std::optional<Cost> cost;                        ///< where the policy has a price
};

/// Exit code of the client for a verdict. Source: spec of the gate, section 1. `strict`: learning counts as
/// inconclusive.
enum class Strictness { lenient, strict };
int exit_code(const Verdict& verdict, Strictness strictness);

}  // namespace traceweir::gate
