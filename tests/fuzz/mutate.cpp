#include "tests/fuzz/mutate.hpp"

#include <algorithm>
#include <array>

namespace traceweir::fuzz {
namespace {

constexpr std::array<unsigned char, 8> edges = {0x00, 0x01, 0x7F, 0x80, 0xFF, 0x20, 0x0A, 0xFE};

/// A place and a size, most often a small one.
struct Piece {
  std::size_t at, size;
};

Piece piece_of(const std::string& bytes, Chance& chance) {
  const std::size_t at = chance.below(bytes.size());
  const std::size_t room = chance.below(4) == 0 ? bytes.size() - at : std::min<std::size_t>(bytes.size() - at, 64);
  return {at, 1 + chance.below(room)};
}

void flip(std::string& bytes, Chance& chance) {
  bytes[chance.below(bytes.size())] ^= static_cast<char>(1U << chance.below(8));
}

void overwrite(std::string& bytes, Chance& chance) {
  const auto [at, size] = piece_of(bytes, chance);
  const std::size_t end = std::min(at + std::min<std::size_t>(size, 16), bytes.size());
  const bool edge = chance.below(2) == 0;
  const unsigned char one = edges[chance.below(edges.size())];
  for (std::size_t i = at; i < end; ++i) bytes[i] = static_cast<char>(edge ? one : chance.bits() & 0xFFU);
}

void erase(std::string& bytes, Chance& chance) {
  const auto [at, size] = piece_of(bytes, chance);
  bytes.erase(at, size);
}

void repeat(std::string& bytes, Chance& chance) {
  const auto [at, size] = piece_of(bytes, chance);
  bytes.insert(at, bytes.substr(at, std::min<std::size_t>(size, 4096)));
}

/// A piece stands in another's place.
void splice(std::string& bytes, Chance& chance) {
  const auto [at, size] = piece_of(bytes, chance);
  const std::string piece = bytes.substr(at, size);
  const std::size_t to = chance.below(bytes.size());
  bytes.replace(to, std::min(size, bytes.size() - to), piece);
}

void cut(std::string& bytes, Chance& chance) { bytes.resize(chance.below(bytes.size())); }

constexpr void (*changes[])(std::string&, Chance&) = {flip, flip, overwrite, overwrite, erase, repeat, splice, cut};

}  // namespace

void change_bytes(std::string& bytes, Chance& chance) {
  if (bytes.empty()) return;
  changes[chance.below(std::size(changes))](bytes, chance);
}

}  // namespace traceweir::fuzz
