// For: which bytes of a JSON text are quotes, backslashes and brackets, and which brackets are outside strings, 64 at a
// time, with the widest instructions that this processor has. Not for: what they mean (kineto_brackets.hpp).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace traceweir::ingest {

/// One bit per byte of a block of 64.
struct BlockMasks {
  std::uint64_t quotes = 0;
  std::uint64_t backslashes = 0;
  std::uint64_t opening = 0;  ///< `{` and `[`
  std::uint64_t closing = 0;  ///< `}` and `]`
  friend bool operator==(const BlockMasks&, const BlockMasks&) = default;
};
inline constexpr std::size_t block_bytes = 64;

/// The masks of `blocks` blocks one after the other.
using MaskFunction = void (*)(const char* text, std::size_t blocks, BlockMasks* out);

/// What a block begins in.
struct StringState {
  bool in_string = false;
  bool escaped = false;  ///< its first byte stands behind a backslash
};

/// The brackets of a block that are outside strings, and how many there are.
struct BlockBrackets {
  std::uint64_t opening = 0;
  std::uint64_t closing = 0;
  int opening_count = 0;
  int closing_count = 0;
  friend bool operator==(const BlockBrackets&, const BlockBrackets&) = default;
};

/// The brackets of `blocks` blocks one after the other. Carries the state over them.
using BracketFunction = void (*)(const char* text, std::size_t blocks, StringState& state, BlockBrackets* out);

/// One way to make them; all give the same.
struct MaskWay {
  std::string_view name;
  MaskFunction make;
  BracketFunction brackets;
};

/// Those that this processor can run, the fastest first.
std::span<const MaskWay> mask_ways();

/// The fastest.
extern const MaskWay masks;

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

/// The quotes of a block of `size` bytes that stand behind no backslash. Carries `escaped` over to the next block.
inline std::uint64_t unescaped_quotes(const BlockMasks& block, std::size_t size, bool& escaped) {
  if (block.backslashes == 0 && !escaped) return block.quotes;
  std::uint64_t behind = escaped ? 1 : 0;
  escaped = false;
  for (std::uint64_t backslashes = block.backslashes; backslashes != 0; backslashes &= backslashes - 1) {
    const auto bit = static_cast<std::size_t>(std::countr_zero(backslashes));
    if (((behind >> bit) & 1U) != 0) continue;  // itself behind a backslash
    if (bit + 1 >= size)
      escaped = true;
    else
      behind |= std::uint64_t{1} << (bit + 1);
  }
  return block.quotes & ~behind;
}

/// The brackets of a block outside strings. `parity`, `count`: prefix_parity and count_of, in whatever instructions.
template <typename Parity, typename Count>
inline BlockBrackets brackets_of(const BlockMasks& block, std::size_t size, StringState& state, Parity parity,
                                 Count count) {
  const std::uint64_t quotes = unescaped_quotes(block, size, state.escaped);
  const std::uint64_t strings = parity(quotes) ^ (state.in_string ? ~std::uint64_t{0} : 0);
  state.in_string = (strings >> 63U) != 0;
  const std::uint64_t opening = block.opening & ~strings;
  const std::uint64_t closing = block.closing & ~strings;
  return {opening, closing, count(opening), count(closing)};
}

}  // namespace traceweir::ingest
