// For: the store's wall time. Not for: its text form (server/wire/timestamp.hpp).
#pragma once

#include <chrono>

namespace traceweir::store {

/// Wall time, UTC. Stored as a 64-bit count of µs since 1970 on every database.
using Timestamp = std::chrono::time_point<std::chrono::system_clock, std::chrono::microseconds>;

}  // namespace traceweir::store
