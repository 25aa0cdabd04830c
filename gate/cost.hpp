// For: what GPUs that wait cost per hour. Not for: the price (policy).
#pragma once

#include <optional>
#include <span>

#include "gate/explanation.hpp"
#include "gate/run_side.hpp"

namespace traceweir::gate {

/// Whose sum is the share of the window in which GPUs wait.
inline constexpr const char* waiting_metrics[] = {"gpu.idle", "gpu.exposed_comm", "gpu.exposed_memory"};

/// What a run's shares mean in money. Nothing: idle is not measured, or the run has no GPU.
/// Units: `gpu_hour` is the price of an hour of one GPU. `waiting_before`: the share of the window in which GPUs
///        waited (idle and exposed together) in the run or the runs that are compared with; nothing: there are none.
std::optional<Cost> cost_of(const RunSide& run, double gpu_hour, std::optional<double> waiting_before);

/// The sum of waiting_metrics.   Units: ratio.   Nothing: one of them is not measured.
std::optional<double> waiting_share(const RunSide& run);

}  // namespace traceweir::gate
