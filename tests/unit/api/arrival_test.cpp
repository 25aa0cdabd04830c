#include "server/api/arrival.hpp"

#include <doctest/doctest.h>

#include <span>
#include <string_view>

using namespace traceweir::api;
using namespace std::string_view_literals;

TEST_CASE("arrival: what is read while it arrives is told by its first bytes") {
  const auto early = [](std::string_view head) { return may_be_read_early(std::as_bytes(std::span(head))); };
  for (const std::string_view head :
       {"{"sv, "[{"sv, " \r\n\t{"sv, "\xEF\xBB\xBF{"sv, "\x1F\x8B\x08"sv, "\x28\xB5\x2F\xFD"sv})
    CHECK(early(head));
  for (const std::string_view head : {""sv, "SQLite format 3\0"sv, "x{"sv, "\x1F"sv, "\xEF\xBB\xBF"sv, "   "sv})
    CHECK_FALSE(early(head));
}
