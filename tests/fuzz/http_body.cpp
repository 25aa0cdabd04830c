// Bodies in chunks: the same body comes out in whatever pieces it is sent and asked for, and ends at the same byte.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/core/assert.hpp"
#include "server/http/chunked.hpp"
#include "tests/fuzz/target.hpp"

using namespace traceweir;

namespace {

struct Decoded {
  std::string body;
  std::size_t consumed = 0;
  bool done = false;
  bool refused = false;
  friend bool operator==(const Decoded&, const Decoded&) = default;
};

/// How much is sent and how much is asked for at a time.
struct Portions {
  std::size_t in, out;
};

Decoded decoded(std::string_view text, Portions portions) {
  http::ChunkedDecoder decoder;
  Decoded out;
  std::vector<std::byte> room(portions.out);
  std::size_t given = std::min(portions.in, text.size());
  while (!decoder.done()) {
    const auto step = decoder.decode(text.substr(out.consumed, given - out.consumed), room);
    out.refused = !step.has_value();
    if (out.refused) break;
    out.consumed += step->consumed;
    out.body.append(reinterpret_cast<const char*>(room.data()), step->produced);
    TRACEWEIR_ASSERT(out.consumed <= given && step->produced <= portions.out);
    if (step->consumed + step->produced > 0 || decoder.done()) continue;
    if (given == text.size()) break;
    given = std::min(given + portions.in, text.size());
  }
  out.done = decoder.done();
  if (out.refused) out.consumed = 0, out.body.clear();  // where it is noticed depends on the portions
  return out;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text = fuzz::text_of(bytes, size);
  const Decoded whole = decoded(text, {std::max<std::size_t>(size, 1), 65'536});
  TRACEWEIR_ASSERT(decoded(text, {1, 65'536}) == whole);
  TRACEWEIR_ASSERT(decoded(text, {7, 3}) == whole);
  TRACEWEIR_ASSERT(whole.body.size() <= size);
  return 0;
}
