// For: time inside a trace. Integer nanoseconds on the trace's own clock; never wall time, never a double.
// Not for: wall times (server/wire/timestamp.hpp).
#pragma once

#include <chrono>
#include <cstdint>

namespace traceweir {

/// A duration, or a point counted from the origin of the trace's clock. Units: ns, 64-bit signed.
using Nanos = std::chrono::duration<std::int64_t, std::nano>;

/// The points t with begin <= t < end. Units: ns. Empty when end <= begin.
struct Interval {
  Nanos begin{};
  Nanos end{};

  [[nodiscard]] constexpr Nanos length() const { return end - begin; }
  [[nodiscard]] constexpr bool empty() const { return end <= begin; }
  [[nodiscard]] constexpr bool contains(Nanos t) const { return begin <= t && t < end; }
  friend constexpr bool operator==(const Interval&, const Interval&) = default;
};

}  // namespace traceweir
