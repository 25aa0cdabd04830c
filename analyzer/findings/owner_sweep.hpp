// For: telling for every instant which of the spans that cover it owns it.
// Not for: unions and lengths without an owner; IntervalSet does those.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <queue>
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

/// Calls `visit(Piece)` for each piece, in order, as owners_of() says. `next()` gives the claims one after the other,
/// then nothing. Cost: memory for the claims that are open at one time.
template <typename Next, typename Visit>
void sweep_owners(Next next, Visit visit) {
  const auto behind = [](const Claim& a, const Claim& b) { return a.rank > b.rank; };
  // Claims that have begun. One that has ended leaves when it comes to the top: each enters and leaves once.
  std::priority_queue<Claim, std::vector<Claim>, decltype(behind)> open(behind);
  std::optional<Claim> coming = next();
  std::optional<Piece> last;
  Nanos now{};
  while (coming || !open.empty()) {
    if (open.empty()) now = coming->span.begin;
    for (; coming && coming->span.begin <= now; coming = next()) open.push(*coming);
    const Claim& owner = open.top();
    if (owner.span.end <= now) {
      open.pop();
      continue;
    }
    const Nanos until = coming ? std::min(owner.span.end, coming->span.begin) : owner.span.end;
    if (last && last->owner == owner.owner && last->span.end == now) {
      last->span.end = until;
    } else {
      if (last) visit(*last);
      last = Piece{{now, until}, owner.owner};
    }
    now = until;
  }
  if (last) visit(*last);
}

/// Shape: `claims` sorted by begin, ranks distinct. Pieces are sorted, disjoint, none empty; what nobody claims is in
///        none; neighbours that touch have different owners.
/// Cost:  O(n log n).
std::vector<Piece> owners_of(std::span<const Claim> claims);

}  // namespace traceweir::findings
