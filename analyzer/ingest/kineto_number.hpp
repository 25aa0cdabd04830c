// For: numbers of a JSON text as exact integers. A double cannot hold a time since the epoch in nanoseconds.
// Not for: numbers that no metric needs; those are never converted.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analyzer/core/time.hpp"

namespace traceweir::ingest {

/// The number `text` × 10^shift, cut (not rounded) to an integer.
struct ExactNumber {
  std::int64_t value;
  bool cut;  ///< digits other than zero were cut off
};

/// Reads decimal text as JSON allows it (`-12.5e3`). Nothing: it is no number, or does not fit 64 bits.
/// Cost: O(digits), whatever the exponent.
std::optional<ExactNumber> exact_number(std::string_view text, int shift);

/// Microseconds as Kineto writes them → ns, cut to the ns.
std::optional<Nanos> nanos_of_microseconds(std::string_view text);

/// A whole number; `5.0` is one, `5.5` is none.
std::optional<std::int64_t> integer_of(std::string_view text);

}  // namespace traceweir::ingest
