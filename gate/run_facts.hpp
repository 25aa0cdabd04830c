// For: what stands beside an explanation: counts that changed, findings that came and went, the environment.
// Not for: causes (explain.hpp).
#pragma once

#include <string>
#include <vector>

#include "gate/explanation.hpp"
#include "gate/run_side.hpp"

namespace traceweir::gate {

/// What differs in machine, software and reading of the traces, by key.
std::vector<EnvironmentChange> environment_changes(const report::Report& base, const report::Report& head);

/// Sentences, the calls first, then findings, kernels, environment. At most facts_max.
std::vector<std::string> facts_of(const RunSide& base, const RunSide& head);
inline constexpr std::size_t facts_max = 24;

}  // namespace traceweir::gate
