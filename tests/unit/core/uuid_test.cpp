#include "analyzer/core/uuid.hpp"

#include <doctest/doctest.h>

using namespace traceweir;
using std::chrono::milliseconds;

// Why: the example of RFC 9562, appendix A.6, holds bit for bit.
TEST_CASE("uuid_v7: the example of the standard") {
  const std::array<std::uint8_t, 10> random = {0x0c, 0xc3, 0x18, 0xc4, 0xdc, 0x0c, 0x0c, 0x07, 0x39, 0x8f};
  CHECK(uuid_v7(milliseconds{0x017f22e279b0}, random) == "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
}

TEST_CASE("uuid_v7: sorts by time, and any time gives an id") {
  const std::array<std::uint8_t, 10> random{};
  CHECK(uuid_v7(milliseconds{1}, random) < uuid_v7(milliseconds{2}, random));
  CHECK(uuid_v7(milliseconds{-5}, random) == uuid_v7(milliseconds{0}, random));
  CHECK(is_uuid(uuid_v7(milliseconds::max(), random)));
}

TEST_CASE("is_uuid: only the one form") {
  CHECK(is_uuid("017f22e2-79b0-7cc3-98c4-dc0c0c07398f"));
  for (const char* text : {"", "017F22E2-79B0-7CC3-98C4-DC0C0C07398F", "017f22e279b07cc398c4dc0c0c07398f",
                           "017f22e2-79b0-7cc3-98c4-dc0c0c07398", "017f22e2-79b0-7cc3-98c4-dc0c0c07398g",
                           "017f22e2/79b0-7cc3-98c4-dc0c0c07398f"})
    CHECK_FALSE(is_uuid(text));
}
