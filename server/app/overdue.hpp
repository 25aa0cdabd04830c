// For: runs that wait for ranks longer than they may. Not for: runs that wait for their analysis: the queue has them.
#pragma once

#include <chrono>

#include "analyzer/core/error.hpp"
#include "server/app/waiting_times.hpp"
#include "server/pipeline/run_queue.hpp"
#include "server/store/store.hpp"

namespace traceweir::app {

/// Closes runs that have waited for longer than `run_complete_max` since their first upload; `waiting` has begun its
/// look. Several processes may do so at once.
/// Errors: what the store says.
Result<void> close_overdue(store::Store& store, pipeline::RunQueue& runs, std::chrono::seconds run_complete_max,
                           WaitingTimes& waiting);

}  // namespace traceweir::app
