// For: how much speaks against an upload whose analysis ended without a result. Not for: what is done about it
// (server/pipeline/run_queue.hpp).
#pragma once

#include <chrono>
#include <cstdint>

namespace traceweir::store {

/// A try that failed is about its upload: the child that read it was ended, or a file could not be read. A process that
/// ended while it held the job is weak evidence: hosts restart, services are killed, and each takes all its jobs along.
inline constexpr std::int64_t strikes_of_a_failure = 7, strikes_of_an_end = 1;

/// What ends a service over and over is not looked for in an upload that came just now: services are restarted, and
/// everything that they hold is young then.
inline constexpr std::chrono::minutes innocence{10};

/// From so many on nobody tries any more: three failures, or twenty-one processes, or some of both.
inline constexpr std::int64_t strikes_max = 21;

}  // namespace traceweir::store
