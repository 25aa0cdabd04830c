// For: the keys of the policy's grammar as words, so that a test can hold the JSON schema against the parser.
// Not for: reading policies (policy.hpp).
#pragma once

#include <string>
#include <vector>

namespace traceweir::gate {

/// Every key that the parser knows, sorted: `version`, `baseline.branch`, `rules.*.max`, `findings.*.level`, …
std::vector<std::string> policy_keys();

}  // namespace traceweir::gate
