// For: which runs a run is compared with, as values for the judge. Source: spec of the gate, section 3.
// Not for: SQL (store) or judging (gate).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analyzer/core/error.hpp"
#include "gate/judge.hpp"
#include "gate/policy.hpp"
#include "server/store/store.hpp"

namespace traceweir::pipeline {

struct BaselineQuestion {
  const store::RunHead& head;
  const gate::Policy& policy;
  const std::string& comparable_key;
  const std::vector<std::string>& metrics;                  ///< levels of others are not asked for
  store::Timestamp now;                                     ///< acceptances that ended before are not in force
  store::Leaning leaning = store::Leaning::while_in_force;  ///< never: as if nothing had been accepted
};

struct FoundBaseline {
  gate::Baseline baseline;
  std::map<std::string, std::string> speaking;  ///< metric → id of the newest acceptance that speaks to the run
};

/// The newest runs of the baseline branch that are comparable: along the first parents of the merge base where the
/// commit graph is known, else those received before. Accepted levels begin where their commit is, and at once for the
/// accepted commit itself.
/// Errors: what the store says.
Result<FoundBaseline> baseline_for(store::Store& store, const BaselineQuestion& question);

/// The branch whose runs count: the policy's, else the one that the client sent, else main.
std::string baseline_branch(const store::RunHead& head, const gate::Policy& policy);

/// Whether a run is one of that branch: not of a pull request, not of a fork.
gate::Baseline::Place place_of(const store::RunHead& head, const gate::Policy& policy);

/// The better side of a metric as the policy has it, else its own; `own`: what comes with the values of a metric of the
/// job's own.
Better side_of(const gate::Policy& policy, const std::string& metric, Better own);

}  // namespace traceweir::pipeline
