// For: where JSON values begin and end, 64 bytes at a time: the part of reading that every byte of a trace pays for.
// Not for: validity; a value whose brackets match may still be broken inside.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "analyzer/ingest/kineto_masks.hpp"

namespace traceweir::ingest {

/// Each bit is the parity of the bits of `bits` up to and including it.
constexpr std::uint64_t prefix_parity(std::uint64_t bits) {
  for (unsigned shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

/// How many bits are set. Without an instruction for it, which not every processor has, a library would be called.
constexpr int count_of(std::uint64_t bits) {
  bits -= bits >> 1U & 0x5555'5555'5555'5555U;
  bits = (bits & 0x3333'3333'3333'3333U) + (bits >> 2U & 0x3333'3333'3333'3333U);
  bits = (bits + (bits >> 4U)) & 0x0F0F'0F0F'0F0F'0F0FU;
  return static_cast<int>(bits * 0x0101'0101'0101'0101U >> 56U);
}

/// Finds brackets outside strings in a text that comes in pieces.
class BracketScanner {
 public:
  /// Reads on through `text` and calls `visit(position, opens)` for each bracket outside strings, in order, until it
  /// returns false (after that the scanner is spent).
  template <typename Visit>
  void scan(std::string_view text, Visit&& visit) {
    scan(text, visit, [](int, int) { return false; });
  }

  /// The same; `pass(opening, closing)` is asked first about each block of 64 bytes with brackets and may take all of
  /// them at once, by their numbers.
  template <typename Visit, typename Pass>
  void scan(std::string_view text, Visit&& visit, Pass&& pass) {
    std::array<BlockMasks, blocks_at_once> masks;
    std::size_t at = 0;
    while (at + block_bytes <= text.size()) {
      const std::size_t blocks = std::min(blocks_at_once, (text.size() - at) / block_bytes);
      make_masks(text.data() + at, blocks, masks.data());
      for (std::size_t i = 0; i < blocks; ++i, at += block_bytes)
        if (!scan_block(masks[i], block_bytes, at, visit, pass)) return;
    }
    if (at == text.size()) return;
    std::array<char, block_bytes> rest;
    rest.fill(' ');
    std::copy(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), rest.begin());
    make_masks(rest.data(), 1, masks.data());
    scan_block(masks.front(), text.size() - at, at, visit, pass);
  }

 private:
  static constexpr std::size_t blocks_at_once = 16;

  template <typename Visit, typename Pass>
  bool scan_block(const BlockMasks& masks, std::size_t size, std::size_t at, Visit& visit, Pass& pass) {
    const std::uint64_t strings = in_strings(masks, size);
    const std::uint64_t opening = masks.opening & ~strings;
    const std::uint64_t closing = masks.closing & ~strings;
    std::uint64_t brackets = opening | closing;
    if (brackets == 0 || pass(count_of(opening), count_of(closing))) return true;
    while (brackets != 0) {
      const auto bit = static_cast<std::size_t>(std::countr_zero(brackets));
      brackets &= brackets - 1;
      if (!visit(at + bit, ((opening >> bit) & 1U) != 0)) return false;
    }
    return true;
  }

  /// Which bytes of a block are inside a string. Carries the state over to the next block.
  std::uint64_t in_strings(const BlockMasks& masks, std::size_t size);

  bool in_string_ = false;
  bool escaped_ = false;  ///< the next byte stands behind a backslash
};

inline std::uint64_t BracketScanner::in_strings(const BlockMasks& masks, std::size_t size) {
  std::uint64_t escaped = escaped_ ? 1 : 0;
  std::uint64_t backslashes = masks.backslashes;
  escaped_ = false;
  while (backslashes != 0) {
    const auto bit = static_cast<std::size_t>(std::countr_zero(backslashes));
    backslashes &= backslashes - 1;
    if (((escaped >> bit) & 1U) != 0) continue;  // itself behind a backslash
    if (bit + 1 >= size)
      escaped_ = true;
    else
      escaped |= std::uint64_t{1} << (bit + 1);
  }
  const std::uint64_t quotes = masks.quotes & ~escaped;
  const std::uint64_t strings = prefix_parity(quotes) ^ (in_string_ ? ~std::uint64_t{0} : 0);
  in_string_ = (strings >> 63U) != 0;
  return strings;
}

/// Finds the end of one JSON value that comes in pieces. Shape: begin with the first byte of the value.
class ValueEnd {
 public:
  /// Reads on. Where the value ends in `text`: the position after it. npos: it goes on.
  /// Depth:  beyond `json_depth_max` the value counts as ended; too_deep() tells.
  std::size_t find(std::string_view text);

  [[nodiscard]] bool too_deep() const { return too_deep_; }

 private:
  std::size_t end_of_container(std::string_view text);
  std::size_t end_of_string(std::string_view text);

  enum class Kind { unknown, container, string, scalar } kind_ = Kind::unknown;
  BracketScanner scanner_;
  std::int64_t depth_ = 0;
  bool escaped_ = false;
  bool too_deep_ = false;
};

/// Nesting that no honest trace has; below the limit of the parser, so that the parser never meets it.
inline constexpr std::int64_t json_depth_max = 512;

}  // namespace traceweir::ingest
