// For: one plain sentence that says why a metric differs, the largest cause first.
// Not for: numbers (explain.hpp).
#pragma once

#include <string>
#include <vector>

#include "gate/contributions.hpp"
#include "gate/explain.hpp"

namespace traceweir::gate {

/// What a sentence is told besides the parts.
struct Telling {
  const Explainer& runs;
  double sign;  ///< -1: a part that makes the metric smaller is time that grew
};

/// "gpu.utilization fell from 89.1 % to 68.0 %: 18.3 of 21.1 points are idle time waiting for input in data_loading"
std::string sentence_of(const Explanation& explanation, const std::vector<Part>& parts, const Telling& telling);

}  // namespace traceweir::gate
