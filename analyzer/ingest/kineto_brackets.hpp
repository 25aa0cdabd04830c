// For: where JSON values begin and end, 64 bytes at a time: the part of reading that every byte of a trace pays for.
// Not for: validity; a value whose brackets match may still be broken inside.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace traceweir::ingest {

/// One bit per byte of a block of 64.
struct BlockMasks {
  std::uint64_t quotes = 0;
  std::uint64_t backslashes = 0;
  std::uint64_t opening = 0;  ///< `{` and `[`
  std::uint64_t closing = 0;  ///< `}` and `]`
};
inline constexpr std::size_t block_bytes = 64;
/// Each bit is the parity of the bits of `bits` up to and including it.
constexpr std::uint64_t prefix_parity(std::uint64_t bits) {
  for (unsigned shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

#ifdef __SSE2__

inline BlockMasks masks_of(const char* block) {
  BlockMasks out;
  // `{` and `[`, `}` and `]` differ in one bit only; no other byte folds onto them.
  const __m128i fold = _mm_set1_epi8(0x20);
  for (unsigned part = 0; part < 4; ++part) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + 16U * part));
    const __m128i folded = _mm_or_si128(bytes, fold);
    const auto mask = [part](__m128i a, char b) {
      const auto bits = static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(a, _mm_set1_epi8(b))));
      return std::uint64_t{bits} << (16U * part);
    };
    out.quotes |= mask(bytes, '"');
    out.backslashes |= mask(bytes, '\\');
    out.opening |= mask(folded, '{');
    out.closing |= mask(folded, '}');
  }
  return out;
}

#else

inline BlockMasks masks_of(const char* block) {
  BlockMasks out;
  for (unsigned i = 0; i < block_bytes; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    const char c = block[i];
    if (c == '"') out.quotes |= bit;
    if (c == '\\') out.backslashes |= bit;
    if (c == '{' || c == '[') out.opening |= bit;
    if (c == '}' || c == ']') out.closing |= bit;
  }
  return out;
}

#endif

/// Finds brackets outside strings in a text that comes in pieces.
class BracketScanner {
 public:
  /// Reads on through `text` and calls `visit(position, opens)` for each bracket outside strings, in order, until it
  /// returns false (after that the scanner is spent).
  template <typename Visit>
  void scan(std::string_view text, Visit&& visit) {
    std::size_t at = 0;
    for (; at + block_bytes <= text.size(); at += block_bytes)
      if (!scan_block(text.data() + at, block_bytes, at, visit)) return;
    if (at == text.size()) return;
    std::array<char, block_bytes> rest;
    rest.fill(' ');
    std::copy(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), rest.begin());
    scan_block(rest.data(), text.size() - at, at, visit);
  }

 private:
  template <typename Visit>
  bool scan_block(const char* block, std::size_t size, std::size_t at, Visit& visit) {
    const BlockMasks masks = masks_of(block);
    const std::uint64_t strings = in_strings(masks, size);
    const std::uint64_t opening = masks.opening & ~strings;
    std::uint64_t brackets = opening | (masks.closing & ~strings);
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
