// For: sums over devices of times that may each be as long as a Nanos can hold.
// Not for: one device's times; those fit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "analyzer/core/time.hpp"

namespace traceweir::findings {

/// Units: ns. No sum of what a trace can hold overflows it.
__extension__ typedef __int128 Wide;

/// The nearest time that Nanos can hold.
inline Nanos saturated(Wide sum) {
  constexpr Wide most = std::numeric_limits<std::int64_t>::max();
  return Nanos{static_cast<std::int64_t>(std::min(sum, most))};
}

}  // namespace traceweir::findings
