// Members of gzip, frames of zstd and plain bytes: the same comes out in whatever portions it is asked for, and never
// more than the limits.
#include "analyzer/ingest/inflate.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "analyzer/core/assert.hpp"
#include "tests/fuzz/memory_file.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/fuzz/upload_check.hpp"

using namespace traceweir;

namespace {

constexpr ingest::ReadLimits limits{.inflated_bytes_max = std::uint64_t{8} << 20, .inflate_ratio_max = 200};

struct Inflated {
  std::string text;
  std::string failure;
};

/// Everything, asked for in portions of at most `portion` bytes.
Inflated inflated(const fuzz::MemoryFile& file, std::size_t portion) {
  Inflated out;
  auto source = ingest::open_bytes(file.file(), limits);
  if (!source) return {{}, source.error().message};
  std::string buffer(portion, '\0');
  for (;;) {
    const auto got = (*source)->read(buffer);
    if (!got) {
      fuzz::check_refusal(got.error());
      out.failure = got.error().message;
      return out;
    }
    if (*got == 0) return out;
    TRACEWEIR_ASSERT(*got <= portion);
    out.text.append(buffer, 0, *got);
    TRACEWEIR_ASSERT(out.text.size() <= limits.inflated_bytes_max + portion);
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  constexpr std::array<std::size_t, 2> portions = {4096, 65'537};
  const std::string_view packed = fuzz::text_of(bytes, size);
  const Inflated first = inflated(fuzz::MemoryFile(packed), portions[0]);
  const Inflated second = inflated(fuzz::MemoryFile(packed), portions[1]);
  // What a limit cuts off depends on the portions; damage does not.
  const std::size_t common = std::min(first.text.size(), second.text.size());
  TRACEWEIR_ASSERT(first.text.compare(0, common, second.text, 0, common) == 0);
  TRACEWEIR_ASSERT(first.failure.empty() == second.failure.empty());
  if (first.failure.empty()) TRACEWEIR_ASSERT(first.text.size() == second.text.size());
  return 0;
}
