#include "server/api/body_buffer.hpp"

#include <doctest/doctest.h>

using namespace traceweir;
using namespace traceweir::api;

// Why: a thousand senders of a byte a second once held a quarter of a gigabyte.
TEST_CASE("body buffer: it grows with who fills it, and no further than it may") {
  BodyBuffer slow;
  for (int i = 0; i < 100; ++i) {
    CHECK(slow.space().size() == BodyBuffer::first_bytes);
    CHECK(slow.filled(1).size() == 1);
  }
  BodyBuffer fast;
  std::size_t before = 0;
  for (int i = 0; i < 10; ++i) {
    const std::size_t size = fast.space().size();
    CHECK(size == std::min(BodyBuffer::first_bytes << i, http::body_buffer_bytes));
    CHECK(size >= before);
    before = size;
    CHECK(fast.filled(size).size() == size);
  }
  CHECK(before == http::body_buffer_bytes);
}
