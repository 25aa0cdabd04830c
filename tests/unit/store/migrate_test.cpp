#include "server/store/migrate.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace traceweir;
using namespace traceweir::store;

namespace {

const Migration three[] = {{1, "V001__a.sql", "aa", ""}, {2, "V002__b.sql", "bb", ""}, {3, "V003__c.sql", "cc", ""}};

}  // namespace

TEST_CASE("migrate: which migration comes next") {
  struct Row {
    const char* what;
    std::vector<AppliedMigration> applied;
    std::int64_t want;  ///< 0: none
  };
  const Row rows[] = {
      {"a new store", {}, 1},
      {"an old store", {{1, "aa"}}, 2},
      {"one behind", {{1, "aa"}, {2, "bb"}}, 3},
      {"up to date", {{1, "aa"}, {2, "bb"}, {3, "cc"}}, 0},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    const auto next = next_migration(three, row.applied);
    REQUIRE(next.has_value());
    CHECK((*next ? (*next)->version : 0) == row.want);
  }
}

TEST_CASE("migrate: what is refused, and the message says why") {
  struct Row {
    std::vector<AppliedMigration> applied;
    const char* why;
  };
  const Row rows[] = {
      {{{1, "aa"}, {2, "bb"}, {3, "cc"}, {4, "dd"}}, "newer than version 3"},
      {{{1, "aa"}, {3, "cc"}}, "version 2 is missing"},
      {{{2, "bb"}}, "version 1 is missing"},
      {{{1, "aa"}, {2, "xx"}}, "another text of V002__b.sql"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.why);
    const auto next = next_migration(three, row.applied);
    REQUIRE_FALSE(next.has_value());
    CHECK(next.error().code == ErrorCode::store_unavailable);
    CHECK(next.error().message.find(row.why) != std::string::npos);
  }
}

TEST_CASE("migrate: the embedded migrations are numbered without gaps and have a checksum") {
  for (const auto migrations : {sqlite_migrations(), postgres_migrations()}) {
    std::int64_t version = 0;
    for (const Migration& migration : migrations) {
      CAPTURE(migration.name);
      CHECK(migration.version == ++version);
      CHECK(migration.sha256.size() == 64);
      CHECK(migration.sql.starts_with("-- V0"));
      for (const char* line : {"-- What:", "-- Why:", "-- Units:", "-- Undo:"})
        CHECK(migration.sql.find(line) != std::string_view::npos);
    }
    CHECK(version >= 1);
  }
}

TEST_CASE("migrate: both engines have the same migrations, by number and name") {
  const auto sqlite = sqlite_migrations(), postgres = postgres_migrations();
  REQUIRE(sqlite.size() == postgres.size());
  for (std::size_t i = 0; i < sqlite.size(); ++i) CHECK(sqlite[i].name == postgres[i].name);
}
