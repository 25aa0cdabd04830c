#include "analyzer/findings/owner_sweep.hpp"

namespace traceweir::findings {

std::vector<Piece> owners_of(std::span<const Claim> claims) {
  std::vector<Piece> pieces;
  pieces.reserve(claims.size());
  const auto next = [&claims]() -> std::optional<Claim> {
    if (claims.empty()) return std::nullopt;
    const Claim claim = claims.front();
    claims = claims.subspan(1);
    return claim;
  };
  sweep_owners(next, [&](const Piece& piece) { pieces.push_back(piece); });
  return pieces;
}

}  // namespace traceweir::findings
