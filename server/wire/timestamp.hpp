// For: wall times on the wire: RFC 3339, UTC, µs.
// Not for: time inside a trace (core/time.hpp).
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace traceweir::wire {

using Timestamp = std::chrono::time_point<std::chrono::system_clock, std::chrono::microseconds>;

/// `2026-11-29T18:05:06.123456Z`; the fraction is left out where it is zero.
std::string to_rfc3339(Timestamp time);

/// Reads `2026-11-29T18:05:06[.fraction](Z|±hh:mm)` and `2026-11-29` (midnight UTC). Nothing: it is no such time, or
/// not in the years 0000 to 9999 of UTC, which `to_rfc3339` can say.
std::optional<Timestamp> from_rfc3339(std::string_view text);

}  // namespace traceweir::wire
