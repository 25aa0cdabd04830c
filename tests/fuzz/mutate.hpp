// For: damage by chance, the same for the same seed: to any bytes, inside a SQLite database, and in the tokens of a
// JSON text. Not for: running anything on the result (mutants_main.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace traceweir::fuzz {

/// Where chance comes from. The standard's distributions are not the same everywhere; this is.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : random_(seed) {}

  /// From 0 to `end` - 1; 0 where `end` is 0.
  std::size_t below(std::size_t end) { return end == 0 ? 0 : random_() % end; }
  std::uint64_t bits() { return random_(); }

 private:
  std::mt19937_64 random_;
};

/// Each makes one change in place; most keep the size.

/// Bits, bytes, pieces that are gone, twice there or elsewhere, a cut.
void change_bytes(std::string& bytes, Chance& chance);

/// Pages, header fields, and values inside rows, such that the database often stays sound. Other bytes: change_bytes.
void change_sqlite(std::string& bytes, Chance& chance);

/// Numbers, words, keys, whole values. Other bytes: change_bytes.
void change_json(std::string& text, Chance& chance);

}  // namespace traceweir::fuzz
