// Pages of a database that belong to two things, or to none: each such file is refused, whichever pages they are.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/ingest/open_file.hpp"
#include "analyzer/ingest/sqlite_file.hpp"
#include "tests/unit/ingest/nsys_fixture.hpp"

using namespace traceweir;
using namespace traceweir::test;

namespace {

constexpr std::size_t page_bytes = 512;
constexpr std::string_view two_names[] = {"t", "u"};

/// Two tables with interior pages and chains of overflow pages, one whose schema overflows, and free pages.
std::string two_tables(std::string_view settings) {
  std::string sql = fmt::format(
      "PRAGMA page_size={}; {}; CREATE TABLE t (id INTEGER PRIMARY KEY, a); CREATE TABLE u (id INTEGER PRIMARY KEY, a);"
      "CREATE TABLE gone (a); CREATE TABLE other (a /* {} */); BEGIN;",
      page_bytes, settings, std::string(900, 'z'));
  for (int i = 0; i < 12; ++i) {
    const std::size_t long_text = i % 5 == 0 ? 1300 : 150;
    for (const char* table : {"t", "u", "gone"})
      sql += fmt::format("INSERT INTO {} (a) VALUES ('{}');", table, std::string(long_text, 'y'));
  }
  return sql + "COMMIT; DROP TABLE gone;";
}

std::size_t number(std::string_view bytes, std::size_t at, std::size_t count) {
  std::size_t out = 0;
  for (const char c : bytes.substr(at, count)) out = out << 8U | static_cast<unsigned char>(c);
  return out;
}

void put(std::string& bytes, std::size_t at, std::size_t value) {
  for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<char>(value >> (24 - 8 * i));
}

/// The words of the first damage that reading both tables meets, which are read as the readers do it.
std::string damage_of(const std::filesystem::path& path) {
  const ingest::File opened = ingest::File::open(path).value();
  auto file = ingest::SqliteFile::open(opened.descriptor(), two_names);
  if (!file) return file.error().message;
  constexpr std::string_view columns[] = {"id", "a"};
  for (const std::string_view table : two_names) {
    REQUIRE(file->has_table(table));
    auto scan = file->scan(table, columns);
    if (!scan) return scan.error().message;
    REQUIRE(scan->has_value());
    const auto all = (*scan)->finish();
    if (all) continue;
    CHECK(all.error().code == ErrorCode::malformed_trace);
    return all.error().message;
  }
  return "";
}

std::string damage_of(const std::filesystem::path& folder, const std::string& bytes) {
  write_bytes(folder / "forged.sqlite", bytes);
  return damage_of(folder / "forged.sqlite");
}

enum class Kind { none, interior, leaf };

Kind kind_of(std::string_view bytes, std::size_t page) {
  const char kind = bytes[(page - 1) * page_bytes + (page == 1 ? 100 : 0)];
  return kind == 5 ? Kind::interior : kind == 13 ? Kind::leaf : Kind::none;
}

/// Where pages of trees name other pages: children, and the first pages of chains (no other bytes of the rows above
/// look like such a number). Chains themselves begin with the number of their next page.
std::vector<std::size_t> references(std::string_view bytes) {
  const std::size_t pages = bytes.size() / page_bytes;
  std::vector<std::size_t> out;
  for (std::size_t page = 1; page <= pages; ++page) {
    const std::size_t begin = (page - 1) * page_bytes;
    const std::size_t tree = begin + (page == 1 ? 100 : 0);
    const Kind kind = kind_of(bytes, page);
    const std::size_t cells = kind == Kind::none ? 0 : number(bytes, tree + 3, 2);
    if (kind == Kind::interior) out.push_back(tree + 8);
    for (std::size_t i = 0; kind == Kind::interior && i < cells; ++i)
      out.push_back(begin + number(bytes, tree + 12 + 2 * i, 2));
    for (std::size_t at = tree + 8 + 2 * cells; kind == Kind::leaf && at + 4 <= begin + page_bytes; ++at) {
      const std::size_t to = number(bytes, at, 4);
      if (to >= 2 && to <= pages && kind_of(bytes, to) == Kind::none) out.push_back(at);
    }
    const bool in_chain = kind == Kind::none && bytes[begin + 100] == 'y';
    if (in_chain && number(bytes, begin, 4) != 0) out.push_back(begin);
  }
  return out;
}

}  // namespace

// Why: quick_check compared the pages of the whole file; what it saw must be seen without it. In a sound file each page
// is used once, so that no reference can lead anywhere else without a second one to the same page.
TEST_CASE("sqlite_owners: no reference of a table can be turned to any other page") {
  for (const char* settings : {"", "PRAGMA auto_vacuum=FULL", "PRAGMA auto_vacuum=INCREMENTAL"}) {
    CAPTURE(settings);
    const Database sound(two_tables(settings));
    CHECK(damage_of(sound.path()) == "");
    const std::string bytes = bytes_of(sound.path());
    const std::size_t pages = bytes.size() / page_bytes;
    const auto all = references(bytes);
    REQUIRE(all.size() > 20);
    const TemporaryFolder folder;
    for (const std::size_t at : all) {
      for (std::size_t to = 0; to <= pages + 1; ++to) {
        if (to == number(bytes, at, 4)) continue;
        CAPTURE(at);
        CAPTURE(to);
        std::string forged = bytes;
        put(forged, at, to);
        const std::string damage = damage_of(folder.path(), forged);
        // A chain that ends early or late is no shorter: its row has a length.
        CHECK(damage != "");
      }
    }
  }
}

// Why: SQLite checks a table alone, and believes it whatever another says of the same page.
TEST_CASE("sqlite_owners: tables that SQLite reads have their own pages too") {
  const Database sound(two_tables(""));
  std::string bytes = bytes_of(sound.path());
  const std::size_t root_of_t = page_bytes, root_of_u = 2 * page_bytes;
  REQUIRE(kind_of(bytes, 2) == Kind::interior);
  REQUIRE(kind_of(bytes, 3) == Kind::interior);
  put(bytes, root_of_u + 8, number(bytes, root_of_t + 8, 4));  // the last leaf of both
  const TemporaryFolder folder;
  write_bytes(folder.path() / "forged.sqlite", bytes);
  const ingest::File opened = ingest::File::open(folder.path() / "forged.sqlite").value();
  auto file = ingest::SqliteFile::open(opened.descriptor(), two_names).value();
  CHECK(file.check("u").has_value());
  const auto other = file.check("t");
  REQUIRE_FALSE(other.has_value());
  CHECK(other.error().message.find("reference to page") != std::string::npos);
}

TEST_CASE("sqlite_owners: roots are pages of their own") {
  struct Row {
    std::string_view name;
    std::string sql;
    const char* message;
  };
  const std::string tables = two_tables("") + "CREATE INDEX i ON t (a);" + "PRAGMA writable_schema=ON;";
  const auto root_of_t = [](std::string_view value) {
    return fmt::format("UPDATE sqlite_master SET rootpage = {} WHERE name = 't';", value);
  };
  const auto root_of = [](std::string_view name) {
    return fmt::format("(SELECT rootpage FROM sqlite_master WHERE name = '{}')", name);
  };
  const Row rows[] = {
      {"all on one page", "UPDATE sqlite_master SET rootpage = 2;", "reference to page 2"},
      {"two tables on one page", root_of_t(root_of("u")), "reference to page"},
      {"a table on the page of one that nobody reads", root_of_t(root_of("other")), "reference to page"},
      {"a table on the page of an index", root_of_t(root_of("i")), "reference to page"},
      {"the page of the schema", root_of_t("1"), ""},
      {"behind the end", root_of_t("4000000000"), ""},
      {"beyond 32 bits", root_of_t("4294967298"), ""},
      {"negative", root_of_t("-2"), ""},
  };
  const TemporaryFolder folder;
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const Database database(tables + row.sql);
    const std::string damage = damage_of(database.path());
    CAPTURE(damage);
    CHECK(damage != "");
    CHECK(damage.find(row.message) != std::string::npos);
  }
}

TEST_CASE("sqlite_owners: the list of free pages is part of the file") {
  const Database database(two_tables(""));
  const std::string bytes = bytes_of(database.path());
  const std::size_t trunk = number(bytes, 32, 4);
  const std::size_t free_pages = number(bytes, 36, 4);
  REQUIRE(free_pages > 5);
  const std::size_t at = (trunk - 1) * page_bytes;
  struct Row {
    std::string_view name;
    std::size_t at;
    std::size_t value;
    const char* message;
  };
  const Row rows[] = {
      {"its chain leads to itself", at, trunk, "reference to page"},
      {"it lists a page twice", at + 8, number(bytes, at + 12, 4), "reference to page"},
      {"it lists the root of a table", at + 8, 2, "reference to page 2"},
      {"it lists the page of the schema", at + 8, 1, "reference to page 1"},
      {"it lists no page", at + 8, 0, "no page 0"},
      {"it lists a page behind the end", at + 8, 1'000'000, "no page 1000000"},
      {"it begins behind the end", 32, 1'000'000, "no page 1000000"},
      {"it is missing", 32, 0, "0 free pages"},
      {"there are fewer than the header says", 36, free_pages + 1, "its header counts"},
      {"a page of it is longer than a page", at + 4, 0xFFFF'FFFF, "more free pages than it can hold"},
  };
  const TemporaryFolder folder;
  for (const Row& row : rows) {
    CAPTURE(row.name);
    std::string forged = bytes;
    put(forged, row.at, row.value);
    CHECK(damage_of(folder.path(), forged).find(row.message) != std::string::npos);
  }
}

// Why: bytes that are two rows at once show a number of events that the file never had.
TEST_CASE("sqlite_owners: rows of a page share no bytes") {
  // The text of the first row is itself a row: 4 bytes of payload, row id 3, a record of NULL and a small number.
  const Database database(
      fmt::format("PRAGMA page_size={}; CREATE TABLE t (id INTEGER PRIMARY KEY, a); CREATE TABLE u (a);"
                  "INSERT INTO t VALUES (1, x'0403030001aa'), (2, 5), (3, 6);",
                  page_bytes));
  CHECK(damage_of(database.path()) == "");
  std::string bytes = bytes_of(database.path());
  const std::size_t page = page_bytes;                           // the root of t is page 2
  const std::size_t inner = bytes.rfind("\x04\x03\x03") - page;  // behind the third row, which begins like it
  REQUIRE(inner < page_bytes);
  bytes[page + 8 + 4] = static_cast<char>(inner >> 8U);
  bytes[page + 8 + 5] = static_cast<char>(inner);
  const TemporaryFolder folder;
  const std::string damage = damage_of(folder.path(), bytes);
  CAPTURE(damage);
  CHECK(damage.find("rows that share bytes") != std::string::npos);
}

// Why: pages that were written, emptied and filled again in any order are sound, and the most usual thing of all.
TEST_CASE("sqlite_owners: databases with a history are read") {
  std::mt19937 random(57);
  for (const char* settings : {"", "PRAGMA auto_vacuum=FULL", "PRAGMA auto_vacuum=INCREMENTAL"}) {
    CAPTURE(settings);
    std::string sql = two_tables(settings) + "BEGIN;";
    for (int i = 0; i < 600; ++i) {
      const auto id = random() % 300;
      const std::string text(random() % (i % 20 == 0 ? 3000 : 60), 'x');
      const char* const table = random() % 2 == 0 ? "t" : "u";
      sql += random() % 3 == 0 ? fmt::format("DELETE FROM {} WHERE id = {};", table, id)
                               : fmt::format("INSERT OR REPLACE INTO {} VALUES ({}, '{}');", table, id, text);
    }
    const Database database(sql + "COMMIT;");
    CHECK(damage_of(database.path()) == "");
  }
}
