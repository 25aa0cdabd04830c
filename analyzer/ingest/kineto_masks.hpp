// For: which bytes of a JSON text are quotes, backslashes and brackets, 64 at a time, with the widest instructions that
// this processor has. Not for: what they mean (kineto_brackets.hpp).
#pragma once

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

/// One way to make them; all give the same.
struct MaskWay {
  std::string_view name;
  MaskFunction make;
};

/// Those that this processor can run, the fastest first.
std::span<const MaskWay> mask_ways();

/// The fastest.
extern const MaskFunction make_masks;

}  // namespace traceweir::ingest
