#include "analyzer/ingest/kineto_brackets.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace traceweir::ingest {
namespace {

/// Each bit is the parity of the bits of `bits` up to and including it.
constexpr std::uint64_t prefix_parity(std::uint64_t bits) {
  for (unsigned shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

}  // namespace

#ifdef __SSE2__

BlockMasks masks_of(const char* block) {
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

BlockMasks masks_of(const char* block) {
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

std::uint64_t BracketScanner::in_strings(const BlockMasks& masks, std::size_t size) {
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

std::size_t ValueEnd::find(std::string_view text) {
  if (text.empty()) return std::string_view::npos;
  if (kind_ == Kind::unknown) {
    const char first = text.front();
    kind_ = first == '{' || first == '[' ? Kind::container : first == '"' ? Kind::string : Kind::scalar;
    if (kind_ == Kind::string) {
      const std::size_t end = end_of_string(text.substr(1));
      return end == std::string_view::npos ? end : end + 1;
    }
  }
  if (kind_ == Kind::container) return end_of_container(text);
  if (kind_ == Kind::string) return end_of_string(text);
  return text.find_first_of(",]} \t\r\n");
}

std::size_t ValueEnd::end_of_container(std::string_view text) {
  std::size_t end = std::string_view::npos;
  scanner_.scan(text, [&](std::size_t at, bool opens) {
    depth_ += opens ? 1 : -1;
    too_deep_ = depth_ > json_depth_max;
    if (depth_ > 0 && !too_deep_) return true;
    end = at + 1;
    return false;
  });
  return end;
}

std::size_t ValueEnd::end_of_string(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (escaped_)
      escaped_ = false;
    else if (text[i] == '\\')
      escaped_ = true;
    else if (text[i] == '"')
      return i + 1;
  }
  return std::string_view::npos;
}

}  // namespace traceweir::ingest
