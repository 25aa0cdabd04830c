// For: a rule's result in words: what was seen, and what to do next. Not for: deciding anything.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "gate/judge.hpp"
#include "gate/verdict.hpp"

namespace traceweir::gate {

/// What sentences need beyond the result itself.
struct SentenceFacts {
  Unit unit = Unit::count;
  std::optional<NotMeasured> why_none;
  std::int64_t runs_have = 0, runs_want = 0;  ///< of the baseline
  std::string branch;                         ///< of the baseline
  std::int64_t other_class_runs = 0;
  std::optional<double> this_run;  ///< where the observed value is the mean of several runs; unit of the metric
  bool limit_is_min = false;
  bool by_limit = false;  ///< the reason is about the absolute limit, not about the baseline
  bool has_noise = true;
  double noise_band = 0;   ///< unit of the metric
  bool unchanged = false;  ///< the difference is one that equal runs have
  bool nearly_blind = false;
  std::string obstacle, obstacle_next;
  const Acceptance* acceptance = nullptr;  ///< not owned
  bool pinned_is_missing = false;
  std::string misfit, misfit_next;  ///< how the rule does not fit its metric; empty: it does
};

/// "gpu.utilization fell from 89.1 % to 68.0 % (-21.1 pp, tolerance 3 pp)"
std::string sentence_for(const RuleResult& result, const SentenceFacts& facts);

/// Empty where nothing is to be done.
std::string next_for(const RuleResult& result, const SentenceFacts& facts);

/// What a user does about a metric that could not be measured.
std::string_view advice_for(NotMeasured reason);

/// "1 run", "2 runs".
std::string counted(std::int64_t count, std::string_view noun);

}  // namespace traceweir::gate
