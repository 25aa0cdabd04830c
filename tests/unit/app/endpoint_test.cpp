#include "server/app/endpoint.hpp"

#include <doctest/doctest.h>

namespace traceweir::app {
namespace {

TEST_CASE("an address to listen on is read as operators write it, and shown so that it can be read again") {
  struct Row {
    std::string_view text, shown;
  };
  constexpr Row rows[] = {
      {"127.0.0.1:8080", "127.0.0.1:8080"},   {"[::1]:8080", "[::1]:8080"}, {"[::]:0", "[::]:0"},
      {"localhost:18981", "127.0.0.1:18981"}, {":8080", "0.0.0.0:8080"},    {"0.0.0.0:65535", "0.0.0.0:65535"}};
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const auto endpoint = endpoint_of(row.text);
    REQUIRE(endpoint);
    CHECK(to_text(*endpoint) == row.shown);
    CHECK(to_text(endpoint_of(row.shown).value()) == row.shown);
  }
}

TEST_CASE("what is no address to listen on is refused with what was expected") {
  for (const std::string_view text :
       {"", "8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:80 ", " 127.0.0.1:80",
        "1:2:3", "::1:8080", ":::8080", "[127.0.0.1]:80", "[]:80", "[::1]", "[::1]8080", "gate.example.com:80",
        "LOCALHOST:80", "1.2.3:80", "http://127.0.0.1:80"}) {
    CAPTURE(text);
    const auto endpoint = endpoint_of(text);
    REQUIRE_FALSE(endpoint);
    CHECK(endpoint.error().code == ErrorCode::bad_config);
    CHECK(endpoint.error().message.find("127.0.0.1:8080, or [::1]:8080") != std::string::npos);
  }
}

}  // namespace
}  // namespace traceweir::app
