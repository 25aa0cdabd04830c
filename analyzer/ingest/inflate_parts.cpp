#include "analyzer/ingest/inflate_parts.hpp"

#include <fmt/format.h>

#include <vector>

namespace traceweir::ingest {
namespace {

/// Small files may compress by any ratio: the ratio says something from here on.
constexpr std::uint64_t ratio_checked_from = std::uint64_t{1} << 20;

}  // namespace

Result<std::uint64_t> drained(File& file) {
  std::vector<char> passed_over(input_bytes);
  for (;;) {
    TRACEWEIR_TRY(got, file.read(passed_over));
    if (got == 0) return file.bytes_read();
  }
}

Result<void> Quota::spend(std::size_t inflated, std::uint64_t compressed) {
  inflated_ += inflated;
  if (inflated_ > limits_.inflated_bytes_max)
    return fail(ErrorCode::trace_too_large,
                fmt::format("more than {} bytes after decompression (inflated_bytes_max)", limits_.inflated_bytes_max));
  if (inflated_ <= ratio_checked_from) return {};
  if (static_cast<double>(inflated_) > limits_.inflate_ratio_max * static_cast<double>(compressed))
    return fail(ErrorCode::trace_too_large, fmt::format("{} bytes inflate to {}: more than 1 : {} (inflate_ratio_max)",
                                                        compressed, inflated_, limits_.inflate_ratio_max));
  return {};
}

}  // namespace traceweir::ingest
