// For: playing a Job and noting what happens: the host launches ahead, streams run in order, all-reduces wait for the
// slowest rank. Not for: exact truth about metrics; that is worked out from the events (facts.hpp).
#pragma once

#include "tools/make_trace/job.hpp"
#include "tools/make_trace/trace.hpp"

namespace traceweir::make_trace {

/// The events of `job` on all its ranks. Same job, same events, on every machine.
Trace simulate(const Job& job);

/// Puts the rows in the order of time, where the simulation has them in the order in which they were launched.
void order_by_time(Trace& trace);

/// Puts the rows out of the order of time, by some thousand places, as no format forbids. The truth stays the same.
void shuffle(Trace& trace);

/// The worked example of docs/metrics.md: 15 ms of data loading, a copy of 2 ms, 5 ms of kernels, over and over.
/// In whole periods: gpu.utilization 5/22, gpu.exposed_memory 2/22, gpu.idle 15/22.
Trace worked_example(int steps);

}  // namespace traceweir::make_trace
