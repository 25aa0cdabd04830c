// For: what a policy would have said about the runs of a branch, had it been in force: each run is judged by the judge
// itself against those that had come before it, and a commit that fails, or waits for confirmation, leaves the baseline
// of the later ones with all its runs.
// Not for: plain series (backtest.hpp), reading the runs (server/pipeline).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "gate/judge.hpp"
#include "gate/policy.hpp"

namespace traceweir::gate {

/// A run of the branch, with what the policy looks at.
struct PastRun {
  JudgedRun run;
  std::string commit;
  std::string environment;         ///< only runs with the same text are compared
  bool findings_known = true;      ///< false: rules on findings are not tried on it
  bool shown = true;               ///< false: it only serves as a baseline of others
  std::set<std::string> accepted;  ///< metrics whose level was accepted at this run
};

struct LaneQuestion {
  const Policy& policy;
  std::span<const PastRun> runs;                                ///< in the order in which they came
  const std::unordered_map<std::string, std::string>& parents;  ///< commit → first parent, as far as it is known
  std::string branch;
};

/// What one rule would have said. Shape: commits and runs are those that would have failed, oldest first, at most
/// lane_failures_max.
struct LaneRule {
  std::string metric;
  std::int64_t judged = 0, failed = 0, warned = 0;
  std::int64_t alarms = 0;     ///< failures one after the other are one
  std::int64_t recovered = 0;  ///< alarms that ended while the level did not change: false ones, most likely
  std::vector<std::string> commits, runs;
};
inline constexpr std::size_t lane_failures_max = 50;

struct LaneBacktest {
  std::int64_t runs = 0, judged = 0;  ///< runs that were looked at, and those of which a rule was judged
  std::int64_t failed_commits = 0;
  std::vector<LaneRule> rules;
};

/// Against a pin nothing is judged: what it named then is not known.
/// Cost: some hundred µs a run for five rules; memory linear in the runs.
LaneBacktest backtest_lane(const LaneQuestion& question);

}  // namespace traceweir::gate
