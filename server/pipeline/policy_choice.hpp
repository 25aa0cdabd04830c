// For: which policy judges a run. Source: spec of the gate, section 2, "Where the policy comes from".
// Not for: parsing or applying it (gate).
#pragma once

#include <string>
#include <vector>

#include "analyzer/core/error.hpp"
#include "gate/policy.hpp"
#include "server/store/store.hpp"

namespace traceweir::pipeline {

struct ChosenPolicy {
  gate::Policy policy;
  std::string source;              ///< `sent`, `server`, `built_in`
  std::vector<std::string> notes;  ///< sentences for the verdict, where a sent policy was not used
};

/// The one sent with the upload, else the server's, else the built-in one. A sent policy is not used where the project
/// keeps its policy on the server, and never from a fork.
/// Errors: bad_policy.
Result<ChosenPolicy> choose_policy(const store::Project& project, const store::RunHead& head);

}  // namespace traceweir::pipeline
