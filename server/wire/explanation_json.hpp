// For: explanations, facts, changed workloads and costs as JSON, both ways: parts of a verdict and of a comparison.
// Not for: working them out (gate/explain.hpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/core/error.hpp"
#include "gate/explanation.hpp"
#include "server/wire/json.hpp"

namespace traceweir::wire {

/// A number in its unit: whole nanoseconds, counts and bytes have no fraction, as in reports.
Json amount(double value, const Unit& unit);

/// Shape: lists are arrays, null stands for nothing.
Json json_of(const std::vector<gate::Explanation>& explanations);
Json json_of(const std::optional<gate::WorkloadChange>& change);
Json json_of(const std::optional<gate::Cost>& cost);

/// What `json` has under the keys `explanations`, `facts`, `workload_changed` and `cost`; a document of an older
/// service has none of them.
struct Explained {
  std::vector<gate::Explanation> explanations;
  std::vector<std::string> facts;
  std::optional<gate::WorkloadChange> workload_changed;
  std::optional<gate::Cost> cost;
};
/// Errors: bad_body, naming the key.
Result<Explained> explained_of(const Json& json);

}  // namespace traceweir::wire
