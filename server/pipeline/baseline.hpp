// For: the values that a run is compared with, read from the store once and handed to the judge.
// Not for: comparing.
#pragma once

#include <string>

#include "analyzer/core/error.hpp"
#include "gate/judge.hpp"
#include "gate/policy.hpp"
#include "server/store/store.hpp"

namespace traceweir::pipeline {

/// The branch whose runs count: the policy's, else the base branch that the client sent, else main.
std::string baseline_branch(const store::RunHead& head, const gate::Policy& policy);

/// Whether the run belongs to the baseline branch itself (and learns), or is measured against it from elsewhere.
gate::Baseline::Place place_of(const store::RunHead& head, const gate::Policy& policy);

/// Runs of the baseline branch at the run's merge base and its first-parent ancestors; where the commit graph does not
/// tell, the newest runs of the branch received before this one (`ancestry: unknown`).
/// Errors: what the store says.
Result<gate::Baseline> baseline_for(store::Store& store, const store::RunHead& head, const gate::Policy& policy,
                                    const std::string& comparable_key);

}  // namespace traceweir::pipeline
