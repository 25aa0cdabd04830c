// For: what a policy would do to the next run, in words and numbers: from which value on a rule fails, what it can see
// today and after more runs, what it does not judge and why. Said by the judge itself.
// Not for: what a policy says without any baseline (policy_words.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gate/judge.hpp"
#include "gate/policy.hpp"

namespace traceweir::gate {

struct RuleOutlook {
  std::string metric;   ///< or `finding:CODE`
  std::string against;  ///< the pinned tag or run; empty: the baseline branch
  std::string sentence;
  std::int64_t runs = 0;                    ///< that the level is made of
  std::optional<double> fails_at;           ///< unit of the metric
  std::optional<double> detectable, later;  ///< today, and after outlook_runs more runs; unit of the metric
};

/// How many further runs `later` speaks of.
inline constexpr std::int64_t outlook_runs = 20;

/// One per rule, by metric, rules against the pin behind their own, findings last.
/// Shape: `newest` is the newest run of the branch: it tells which metrics there are; without any runs it is empty.
std::vector<RuleOutlook> outlook_of(const Policy& policy, const Baseline& baseline, const JudgedRun& newest);

}  // namespace traceweir::gate
