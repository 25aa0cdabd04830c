#include "analyzer/ingest/kineto_masks.hpp"

#include <array>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace traceweir::ingest {
namespace {

// `{` and `[`, `}` and `]` differ in one bit only; no other byte folds onto them.
constexpr char fold = 0x20;

#if defined(__x86_64__)

// With one bit set wherever a carry-less product has one, it is the parity of all bits below.
__attribute__((target("pclmul"))) inline std::uint64_t parity_by_product(std::uint64_t bits) {
  const __m128i product = _mm_clmulepi64_si128(_mm_set_epi64x(0, static_cast<long long>(bits)), _mm_set1_epi8(-1), 0);
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(product));
}

__attribute__((target("popcnt"))) inline int counted_at_once(std::uint64_t bits) { return __builtin_popcountll(bits); }

__attribute__((target("avx512f,avx512bw"))) inline BlockMasks block_avx512(const char* text) {
  const __m512i bytes = _mm512_loadu_si512(text);
  const __m512i folded = _mm512_or_si512(bytes, _mm512_set1_epi8(fold));
  return {_mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('"')), _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\\')),
          _mm512_cmpeq_epi8_mask(folded, _mm512_set1_epi8('{')), _mm512_cmpeq_epi8_mask(folded, _mm512_set1_epi8('}'))};
}

__attribute__((target("avx512f,avx512bw"))) void with_avx512(const char* text, std::size_t blocks, BlockMasks* out) {
  for (std::size_t i = 0; i < blocks; ++i) out[i] = block_avx512(text + i * block_bytes);
}

__attribute__((target("avx512f,avx512bw,pclmul,popcnt"))) void brackets_avx512(const char* text, std::size_t blocks,
                                                                               StringState& state, BlockBrackets* out) {
  for (std::size_t i = 0; i < blocks; ++i)
    out[i] =
        brackets_of(block_avx512(text + i * block_bytes), block_bytes, state, &parity_by_product, &counted_at_once);
}

__attribute__((target("avx2"))) inline std::uint64_t mask_of(__m256i low, __m256i high, char wanted) {
  const __m256i all = _mm256_set1_epi8(wanted);
  const auto bits = [](int mask) { return std::uint64_t{static_cast<std::uint32_t>(mask)}; };
  return bits(_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, all))) |
         bits(_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, all))) << 32U;
}

__attribute__((target("avx2"))) inline BlockMasks block_avx2(const char* text) {
  const __m256i folding = _mm256_set1_epi8(fold);
  const auto* const at = reinterpret_cast<const __m256i*>(text);
  const __m256i low = _mm256_loadu_si256(at);
  const __m256i high = _mm256_loadu_si256(at + 1);
  const __m256i low_folded = _mm256_or_si256(low, folding);
  const __m256i high_folded = _mm256_or_si256(high, folding);
  return {mask_of(low, high, '"'), mask_of(low, high, '\\'), mask_of(low_folded, high_folded, '{'),
          mask_of(low_folded, high_folded, '}')};
}

__attribute__((target("avx2"))) void with_avx2(const char* text, std::size_t blocks, BlockMasks* out) {
  for (std::size_t i = 0; i < blocks; ++i) out[i] = block_avx2(text + i * block_bytes);
}

__attribute__((target("avx2,pclmul,popcnt"))) void brackets_avx2(const char* text, std::size_t blocks,
                                                                 StringState& state, BlockBrackets* out) {
  for (std::size_t i = 0; i < blocks; ++i)
    out[i] = brackets_of(block_avx2(text + i * block_bytes), block_bytes, state, &parity_by_product, &counted_at_once);
}

/// What every x86-64 has.
void with_sse2(const char* text, std::size_t blocks, BlockMasks* out) {
  const __m128i folding = _mm_set1_epi8(fold);
  for (std::size_t i = 0; i < blocks; ++i) {
    BlockMasks masks;
    for (unsigned part = 0; part < 4; ++part) {
      const char* const at = text + i * block_bytes + 16U * part;
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
      const __m128i folded = _mm_or_si128(bytes, folding);
      const auto mask = [part](__m128i a, char b) {
        const auto bits = static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(a, _mm_set1_epi8(b))));
        return std::uint64_t{bits} << (16U * part);
      };
      masks.quotes |= mask(bytes, '"');
      masks.backslashes |= mask(bytes, '\\');
      masks.opening |= mask(folded, '{');
      masks.closing |= mask(folded, '}');
    }
    out[i] = masks;
  }
}

#endif

/// What every machine has.
void byte_by_byte(const char* text, std::size_t blocks, BlockMasks* out) {
  for (std::size_t i = 0; i < blocks; ++i) {
    BlockMasks masks;
    for (unsigned at = 0; at < block_bytes; ++at) {
      const std::uint64_t bit = std::uint64_t{1} << at;
      const char c = text[i * block_bytes + at];
      if (c == '"') masks.quotes |= bit;
      if (c == '\\') masks.backslashes |= bit;
      if (c == '{' || c == '[') masks.opening |= bit;
      if (c == '}' || c == ']') masks.closing |= bit;
    }
    out[i] = masks;
  }
}

/// The brackets, from the masks of whatever way, without an instruction that some processor lacks.
template <MaskFunction make>
void brackets_by(const char* text, std::size_t blocks, StringState& state, BlockBrackets* out) {
  for (std::size_t i = 0; i < blocks; ++i) {
    BlockMasks block;
    make(text + i * block_bytes, 1, &block);
    out[i] = brackets_of(block, block_bytes, state, prefix_parity, count_of);
  }
}

struct Ways {
  std::array<MaskWay, 4> all{};
  std::size_t count = 0;
  void add(const MaskWay& way) { all[count++] = way; }
};

Ways found_ways() {
  Ways ways;
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool counts = __builtin_cpu_supports("pclmul") != 0 && __builtin_cpu_supports("popcnt") != 0;
  if (counts && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0)
    ways.add({"avx512", &with_avx512, &brackets_avx512});
  if (counts && __builtin_cpu_supports("avx2") != 0) ways.add({"avx2", &with_avx2, &brackets_avx2});
  ways.add({"sse2", &with_sse2, &brackets_by<&with_sse2>});
#endif
  ways.add({"bytes", &byte_by_byte, &brackets_by<&byte_by_byte>});
  return ways;
}

}  // namespace

std::span<const MaskWay> mask_ways() {
  static const Ways ways = found_ways();
  return std::span(ways.all).first(ways.count);
}

const MaskWay masks = mask_ways().front();

}  // namespace traceweir::ingest
