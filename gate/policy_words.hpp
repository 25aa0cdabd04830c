// For: what a policy does, in words, for `traceweir policy check`.
// Not for: what today's baselines make of it (a verdict says that: fails_at, detectable).
#pragma once

#include <string>
#include <vector>

#include "gate/policy.hpp"

namespace traceweir::gate {

/// One sentence: "allreduce.time_mean fails above 50 ms, or where it is worse by more than 10 % and 0.2 ms than the
/// mean of at most 30 runs of main, beyond their noise (3 sigmas)."
std::string in_words(const Rule& rule, const Policy& policy);
std::string in_words(const FindingRule& rule);

/// Sentences about everything else: the baseline, what makes runs comparable, how traces are read.
std::vector<std::string> in_words(const Policy& policy);

}  // namespace traceweir::gate
