// For: telling for every instant which of the spans that cover it owns it.
// Not for: unions and lengths without an owner; IntervalSet does those.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/core/time.hpp"

namespace traceweir::findings {

/// A span that claims its instants for `owner`. Of the claims on an instant the one with the lowest rank wins.
struct Claim {
  Interval span;
  std::uint64_t rank;
  std::uint32_t owner;
};

/// A stretch of time and what owns it.
struct Piece {
  Interval span;
  std::uint32_t owner;
};

/// Shape: `claims` sorted by begin, ranks distinct. Pieces are sorted, disjoint, none empty; what nobody claims is in
///        none; neighbours that touch have different owners.
/// Cost:  O(n log n).
std::vector<Piece> owners_of(std::span<const Claim> claims);

}  // namespace traceweir::findings
