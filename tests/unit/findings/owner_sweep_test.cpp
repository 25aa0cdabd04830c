#include "analyzer/findings/owner_sweep.hpp"

#include <doctest/doctest.h>

#include "tests/unit/findings/ranks.hpp"

namespace traceweir::findings::test {

// Why: everything that adds up in a breakdown does so because each instant has exactly one owner.
TEST_CASE("owners_of: one owner per instant") {
  struct Row {
    const char* name;
    std::vector<Claim> claims;
    std::vector<Piece> want;
  };
  const Row rows[] = {
      {"nothing", {}, {}},
      {"an empty claim owns nothing", {{ns(5, 5), 0, 1}}, {}},
      {"the lower rank wins where they overlap",
       {{ns(0, 10), 1, 1}, {ns(5, 15), 0, 2}},
       {{ns(0, 5), 1}, {ns(5, 15), 2}}},
      {"the higher rank has what is left", {{ns(0, 10), 0, 1}, {ns(5, 15), 1, 2}}, {{ns(0, 10), 1}, {ns(10, 15), 2}}},
      {"an owner may come back",
       {{ns(0, 20), 1, 1}, {ns(5, 10), 0, 2}},
       {{ns(0, 5), 1}, {ns(5, 10), 2}, {ns(10, 20), 1}}},
      {"a gap belongs to nobody", {{ns(0, 5), 0, 1}, {ns(8, 9), 1, 1}}, {{ns(0, 5), 1}, {ns(8, 9), 1}}},
      {"touching pieces of one owner are one", {{ns(0, 5), 0, 1}, {ns(5, 9), 1, 1}}, {{ns(0, 9), 1}}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const std::vector<Piece> got = owners_of(row.claims);
    REQUIRE(got.size() == row.want.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      CHECK(got[i].span == row.want[i].span);
      CHECK(got[i].owner == row.want[i].owner);
    }
  }
}

}  // namespace traceweir::findings::test
