// For: the runs that a policy pins, as values to compare with. Not for: comparing.
#pragma once

#include <string>

#include "analyzer/core/error.hpp"
#include "gate/judge.hpp"
#include "server/store/store.hpp"

namespace traceweir::pipeline {

/// How many runs of a pinned commit or tag are averaged, the newest first.
inline constexpr std::int64_t pinned_runs_max = 20;

/// What a name means, and when it was.
struct PinnedRuns {
  gate::PinnedBaseline baseline;
  std::string commit;              ///< of the newest of its runs
  store::Timestamp received_at{};  ///< of the same
};

/// The runs that `name` means and that can be compared with `head`: the run of that id, else those of that commit, else
/// those of that branch or tag. No values where there is none: the judge says so.
/// Errors: what the store says.
Result<PinnedRuns> pinned_runs(store::Store& store, const store::RunHead& head, const std::string& name,
                               const std::string& comparable_key);

}  // namespace traceweir::pipeline
