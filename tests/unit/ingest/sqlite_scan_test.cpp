// Reading the pages of a table past SQLite: what SQLite reads is the second opinion.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

#include "analyzer/ingest/nsys_schema.hpp"
#include "analyzer/ingest/open_file.hpp"
#include "analyzer/ingest/sqlite_file.hpp"
#include "tests/unit/ingest/nsys_fixture.hpp"

using namespace traceweir;
using namespace traceweir::test;
using ingest::Cell;

namespace {

constexpr std::string_view scanned_tables[] = {"t", "u", "w"};
constexpr std::string_view columns[] = {"c", "a", "absent", "b", "id", "d"};

std::string shown(const Cell& cell) {
  switch (cell.type) {
    case Cell::Type::null:
      return "null";
    case Cell::Type::integer:
      return fmt::format("{}", cell.integer);
    case Cell::Type::real:
      return fmt::format("real {}", cell.real);
    case Cell::Type::text:
      return fmt::format("text {}", cell.text);
    case Cell::Type::blob:
      return fmt::format("blob {}", cell.text);
  }
  return "";
}

template <typename Rows>
std::vector<std::string> all_of(Rows& rows) {
  std::vector<std::string> out;
  for (;;) {
    const auto more = rows.next();
    REQUIRE(more.has_value());
    if (!*more) return out;
    std::string& row = out.emplace_back();
    for (const Cell& cell : rows.cells()) row += shown(cell) + "|";
  }
}

/// The same rows by both ways.
void check_agreement(const std::string& sql) {
  const Database database(sql);
  const ingest::File opened = ingest::File::open(database.path()).value();
  auto file = ingest::SqliteFile::open(opened.descriptor(), scanned_tables);
  REQUIRE(file.has_value());
  auto scan = file->scan("t", columns);
  REQUIRE(scan.has_value());
  REQUIRE(scan->has_value());
  auto rows = file->query("SELECT c, a, NULL, b, id, d FROM t NOT INDEXED");
  REQUIRE(rows.has_value());
  CHECK(all_of(**scan) == all_of(*rows));
}

/// A value that a column may hold, as SQL.
std::string some_value(std::mt19937& random) {
  constexpr const char* fixed[] = {"NULL",
                                   "0",
                                   "1",
                                   "-1",
                                   "127",
                                   "128",
                                   "-129",
                                   "32768",
                                   "8388608",
                                   "2147483648",
                                   "-140737488355328",
                                   "9223372036854775807",
                                   "1.5",
                                   "-0.25",
                                   "1e300",
                                   "''",
                                   "x''"};
  switch (random() % 4) {
    case 0:
      return fmt::format("'{}'", std::string(random() % 9000, 'y'));
    case 1:
      return fmt::format("x'{}'", std::string(2 * (random() % 700), 'a'));
    default:
      return fixed[random() % std::size(fixed)];
  }
}

std::string some_table(std::mt19937& random, int rows, int page_size) {
  std::string sql = fmt::format(
      "PRAGMA page_size={}; CREATE TABLE t (a, id INTEGER PRIMARY KEY, b INTEGER, c TEXT, d BLOB); BEGIN;", page_size);
  std::int64_t id = -50;
  for (int i = 0; i < rows; ++i) {
    id += 1 + (random() % 50 == 0 ? 1'000'000'000'000 : 0);
    sql += fmt::format("INSERT INTO t VALUES ({}, {}, {}, {}, {});", some_value(random), id, some_value(random),
                       some_value(random), some_value(random));
  }
  return sql + "COMMIT;";
}

}  // namespace

TEST_CASE("sqlite_scan: every type, size and depth of tree is read as SQLite reads it") {
  std::mt19937 random(53);
  for (const int page_size : {512, 1024, 4096, 65536}) {
    CAPTURE(page_size);
    check_agreement(some_table(random, 400, page_size));
  }
  check_agreement("CREATE TABLE t (a, id INTEGER PRIMARY KEY, b, c, d);");
  // Columns that were added later are absent in the rows before; rows that were deleted leave holes.
  check_agreement(
      "CREATE TABLE t (a, id INTEGER PRIMARY KEY, b); INSERT INTO t VALUES (1, 2, 3), (4, 5, 6), (7, 8, 9);"
      "ALTER TABLE t ADD COLUMN c; ALTER TABLE t ADD COLUMN d; DELETE FROM t WHERE id = 5;"
      "INSERT INTO t VALUES (10, 11, 12, 13, 14);");
  check_agreement("CREATE TABLE t (a, id TEXT PRIMARY KEY, b, c, d); INSERT INTO t VALUES (1, 'x', 2, 3, 4);");
}

// Why: what these mean is SQLite's business, and it is asked.
TEST_CASE("sqlite_scan: tables that only SQLite can read are left to it") {
  for (const char* sql : {"CREATE TABLE t (a, id TEXT PRIMARY KEY) WITHOUT ROWID; INSERT INTO t VALUES (1, 'x');",
                          "PRAGMA encoding='UTF-16'; CREATE TABLE t (a, id); INSERT INTO t VALUES (1, 'x');",
                          "CREATE TABLE t (id); INSERT INTO t VALUES ('x'); ALTER TABLE t ADD COLUMN a DEFAULT 1;"}) {
    CAPTURE(sql);
    const Database database(sql);
    const ingest::File opened = ingest::File::open(database.path()).value();
    auto file = ingest::SqliteFile::open(opened.descriptor(), scanned_tables);
    REQUIRE(file.has_value());
    const auto scan = file->scan("t", columns);
    REQUIRE(scan.has_value());
    CHECK_FALSE(scan->has_value());
    CHECK(file->check("t").has_value());
    auto rows = ingest::nsys::TableRows::of(*file, "t", columns, {});
    REQUIRE(rows.has_value());
    REQUIRE(rows->next().value());
    CHECK((*rows)[1].integer == 1);
    CHECK((*rows)[4].text == "x");
  }
}

// Why: pages of a stranger may lead anywhere; each is read once, or the table is refused with the page's number.
TEST_CASE("sqlite_scan: damaged pages are refused or read, in time that follows the size of the file") {
  std::mt19937 random(54);
  const Database sound(some_table(random, 300, 512));
  const std::string good = bytes_of(sound.path());
  const TemporaryFolder folder;
  const auto path = folder.path() / "mutant.sqlite";
  int refused = 0;
  for (int round = 0; round < 500; ++round) {
    std::string bytes = good;
    for (std::size_t changes = 1 + random() % 4; changes > 0; --changes) {
      const std::size_t page = 1 + random() % (bytes.size() / 512 - 1);
      bytes[page * 512 + random() % (round % 2 == 0 ? 16 : 512)] = static_cast<char>(random());
    }
    write_bytes(path, bytes);
    const ingest::File opened = ingest::File::open(path).value();
    auto file = ingest::SqliteFile::open(opened.descriptor(), scanned_tables);
    REQUIRE(file.has_value());
    auto scan = file->scan("t", columns);
    if (!scan || !*scan) continue;
    std::size_t rows = 0;
    for (auto more = (*scan)->next(); more.has_value() ? *more : (++refused, false); more = (*scan)->next()) ++rows;
    CHECK(rows <= bytes.size());
  }
  CHECK(refused > 100);
}

TEST_CASE("sqlite_scan: a tree that leads back into itself is refused, with the page") {
  std::mt19937 random(55);
  const Database sound(some_table(random, 300, 512));
  std::string bytes = bytes_of(sound.path());
  // Page 2 is the root: all its children become its first.
  REQUIRE(bytes[512] == 5);
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(bytes[at]); };
  const std::size_t cell = 512 + byte(512 + 12) * 256U + byte(512 + 13);
  bytes.replace(512 + 8, 4, bytes.substr(cell, 4));
  const TemporaryFolder folder;
  write_bytes(folder.path() / "a.sqlite", bytes);
  const ingest::File opened = ingest::File::open(folder.path() / "a.sqlite").value();
  auto file = ingest::SqliteFile::open(opened.descriptor(), scanned_tables);
  REQUIRE(file.has_value());
  auto scan = file->scan("t", columns).value();
  for (;;) {
    const auto more = scan->next();
    if (more.has_value()) REQUIRE(*more);
    if (more.has_value()) continue;
    CHECK(more.error().code == ErrorCode::malformed_trace);
    CHECK(more.error().message.find("a second reference to page") != std::string::npos);
    break;
  }
}
