#include "analyzer/findings/owner_sweep.hpp"

#include <algorithm>
#include <queue>

namespace traceweir::findings {
namespace {

struct RanksBehind {
  bool operator()(const Claim* a, const Claim* b) const { return a->rank > b->rank; }
};

void append(std::vector<Piece>& pieces, Interval span, std::uint32_t owner) {
  if (!pieces.empty() && pieces.back().owner == owner && pieces.back().span.end == span.begin)
    pieces.back().span.end = span.end;
  else
    pieces.push_back({span, owner});
}

}  // namespace

std::vector<Piece> owners_of(std::span<const Claim> claims) {
  std::vector<Piece> pieces;
  // Claims that have begun. One that has ended leaves when it comes to the top: each enters and leaves once.
  std::priority_queue<const Claim*, std::vector<const Claim*>, RanksBehind> open;
  std::size_t next = 0;
  Nanos now{};
  while (next < claims.size() || !open.empty()) {
    if (open.empty()) now = claims[next].span.begin;
    for (; next < claims.size() && claims[next].span.begin <= now; ++next) open.push(&claims[next]);
    const Claim& owner = *open.top();
    if (owner.span.end <= now) {
      open.pop();
      continue;
    }
    const Nanos until = next < claims.size() ? std::min(owner.span.end, claims[next].span.begin) : owner.span.end;
    append(pieces, {now, until}, owner.owner);
    now = until;
  }
  return pieces;
}

}  // namespace traceweir::findings
