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
    std::array<BlockBrackets, blocks_at_once> found;
    std::size_t at = 0;
    while (at + block_bytes <= text.size()) {
      const std::size_t blocks = std::min(blocks_at_once, (text.size() - at) / block_bytes);
      masks.brackets(text.data() + at, blocks, state_, found.data());
      for (std::size_t i = 0; i < blocks; ++i, at += block_bytes)
        if (!scan_block(found[i], at, visit, pass)) return;
    }
    if (at == text.size()) return;
    std::array<char, block_bytes> rest;
    rest.fill(' ');
    std::copy(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), rest.begin());
    BlockMasks block;
    masks.make(rest.data(), 1, &block);
    scan_block(brackets_of(block, text.size() - at, state_, prefix_parity, count_of), at, visit, pass);
  }

 private:
  static constexpr std::size_t blocks_at_once = 16;

  template <typename Visit, typename Pass>
  bool scan_block(const BlockBrackets& block, std::size_t at, Visit& visit, Pass& pass) {
    std::uint64_t brackets = block.opening | block.closing;
    if (brackets == 0 || pass(block.opening_count, block.closing_count)) return true;
    while (brackets != 0) {
      const auto bit = static_cast<std::size_t>(std::countr_zero(brackets));
      brackets &= brackets - 1;
      if (!visit(at + bit, ((block.opening >> bit) & 1U) != 0)) return false;
    }
    return true;
  }

  StringState state_;
};

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
