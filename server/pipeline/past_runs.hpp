// For: policies tried on what is stored: on today's baseline, and on the history of a branch.
// Not for: judging runs for good (judging.hpp), what the answers look like (server/wire).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/core/error.hpp"
#include "gate/lane_backtest.hpp"
#include "gate/outlook.hpp"
#include "gate/policy.hpp"
#include "server/store/store.hpp"

namespace traceweir::pipeline {

struct LaneName {
  std::string project, workload, branch;
};

/// What the policy would do to the next run of the branch, if it came `now`.
/// Errors: what the store says.   Thread: blocks.
Result<std::vector<gate::RuleOutlook>> outlook_for(store::Store& store, const LaneName& lane,
                                                   const gate::Policy& policy, store::Timestamp now);

struct PastQuestion {
  LaneName lane;
  const gate::Policy& policy;
  std::optional<store::Timestamp> since;  ///< runs received before only serve as baselines
  std::int64_t limit = 10'000;            ///< the newest so many runs are looked at
};

struct PastAnswer {
  gate::LaneBacktest backtest;
  std::vector<std::string> notes;  ///< sentences about what could not be tried
};

/// Findings are in reports alone, so rules on them are tried on so many of the newest runs.
inline constexpr std::size_t past_reports_max = 200;

/// What the policy would have said about the runs of the branch. Runs that could not be compared then (of pull
/// requests, superseded, not whole) are left out, and so are those before the policy's epoch.
/// Errors: what the store says.   Thread: blocks.   Cost: some seconds for 10 000 runs and five rules.
Result<PastAnswer> backtest_past(store::Store& store, const PastQuestion& question);

}  // namespace traceweir::pipeline
