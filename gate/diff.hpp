// For: two runs beside each other: what changed, and why. Pure.
// Not for: whether that is a regression (judge.hpp), JSON (server/wire).
#pragma once

#include <optional>

#include "analyzer/report/report.hpp"
#include "gate/explanation.hpp"

namespace traceweir::gate {

/// Every metric that both runs have, and explanations of those that can be explained.
/// Shape: of a run and itself every delta is 0; swapping the sides turns the signs.
/// Units: `gpu_hour`: price of an hour of one GPU; nothing: no cost.
Diff diff_of(const report::Report& base, const report::Report& head, std::optional<double> gpu_hour = std::nullopt);

}  // namespace traceweir::gate
