#include <doctest/doctest.h>
#include <fmt/format.h>

#include <chrono>
#include <random>

#include "analyzer/ingest/nsys_schema.hpp"
#include "analyzer/ingest/open_file.hpp"
#include "analyzer/ingest/sqlite_file.hpp"
#include "analyzer/ingest/sqlite_header.hpp"
#include "tests/unit/ingest/nsys_fixture.hpp"

using namespace traceweir;
using namespace traceweir::test;
namespace line = traceweir::timeline;

namespace {

/// A small export with every table filled: about 40 pages.
std::string small_export() {
  std::string sql = std::string(export_tables) + "BEGIN;" + string_row(1, "gemm") + string_row(2, "cudaLaunchKernel");
  for (std::int64_t i = 0; i < 600; ++i) {
    sql += kernel_row(i * 100 + 50, i * 100 + 90, i + 1, 1) + call_row(i * 100, i * 100 + 9, i + 1, 2);
    if (i % 10 == 0) sql += range_row(i * 100, i * 100 + 990, "step");
  }
  return sql + "COMMIT;";
}

std::string many_tables(int count) {
  std::string sql = "BEGIN;";
  for (int i = 0; i < count; ++i) sql += fmt::format("CREATE TABLE t{} (a);", i);
  return sql + "COMMIT;";
}

}  // namespace

// Why: each of these ran for seconds or took gigabytes in a plain SQLite, or showed rows that are not there.
TEST_CASE("nsys: a database with anything but plain tables is refused at once") {
  struct Row {
    const char* name;
    std::string sql;
    ErrorCode want;
    const char* message;
  };
  const std::string strings = "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);";
  const Row rows[] = {
      {"a view without end in place of a table",
       strings + "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 "
                 "FROM n) SELECT i AS start, i AS end FROM n;",
       ErrorCode::malformed_trace, "CUPTI_ACTIVITY_KIND_KERNEL is not a plain table"},
      {"a view that builds a huge value",
       strings + "CREATE VIEW NVTX_EVENTS AS SELECT hex(zeroblob(400000000)) AS text;", ErrorCode::malformed_trace,
       "NVTX_EVENTS is not a plain table"},
      {"a virtual table", strings + "CREATE VIRTUAL TABLE CUPTI_ACTIVITY_KIND_KERNEL USING fts5(start, end);",
       ErrorCode::malformed_trace, "virtual table"},
      {"a trigger on a table of ours",
       strings + "CREATE TRIGGER t AFTER INSERT ON StringIds BEGIN DELETE FROM StringIds; END;",
       ErrorCode::malformed_trace, "trigger"},
      {"a generated column in a table of ours",
       strings + "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, streamId AS "
                 "(hex(zeroblob(100000000))) VIRTUAL);",
       ErrorCode::malformed_trace, "generated column"},
      {"a generated column in any table", strings + "CREATE TABLE other (a INTEGER, b AS (a + 1) STORED NOT NULL);",
       ErrorCode::malformed_trace, "generated column"},
      {"3,000 tables", strings + many_tables(3000), ErrorCode::malformed_trace, "more than 2000"},
      {"60,000 tables on one page",
       strings + "PRAGMA writable_schema=ON; INSERT INTO sqlite_master WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
                 "SELECT i + 1 FROM n WHERE i < 60000) SELECT 'table', 't' || i, 't' || i, 2, 'CREATE TABLE t' || i || "
                 "'(a)' FROM n;",
       ErrorCode::malformed_trace, "more than 2000"},
      {"a value larger than we read", strings + "INSERT INTO StringIds VALUES (1, printf('%.*c', 20000000, 'x'));",
       ErrorCode::malformed_trace, "larger than we read"},
      {"a database in WAL mode", "PRAGMA journal_mode=WAL;" + strings, ErrorCode::unsupported_format,
       "export still open or not checkpointed"},
      {"no table at all", "PRAGMA user_version=1;", ErrorCode::not_a_trace, "without any table"},
      {"a database of something else", "CREATE TABLE moz_cookies (a); CREATE TABLE \"odd\nname\" (b);",
       ErrorCode::not_a_trace, "moz_cookies, odd\\x0aname"},
      {"a rocpd database", "CREATE TABLE rocpd_string (id, string); CREATE TABLE rocpd_kernel_dispatch (id);",
       ErrorCode::unsupported_format, "rocprofv3"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const Database database(row.sql);
    const auto before = std::chrono::steady_clock::now();
    const auto read = read_nsys(database.path());
    CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(10));
    REQUIRE_FALSE(read.has_value());
    CAPTURE(read.error().message);
    CHECK(read.error().code == row.want);
    CHECK(read.error().message.find(row.message) != std::string::npos);
  }
}

// Why: people keep views and indexes of their own in a report; what is never read does no harm.
TEST_CASE("nsys: what is beside our tables is passed over, not run") {
  const line::Timeline rank = rank_of(small_export() +
                                      "CREATE VIEW mine AS SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL;"
                                      "CREATE INDEX by_start ON CUPTI_ACTIVITY_KIND_KERNEL (start) WHERE start > 0;"
                                      "CREATE VIRTUAL TABLE notes USING fts5(text);"
                                      "CREATE TABLE checked (a CHECK (length(hex(zeroblob(1000000))) < 0));"
                                      "PRAGMA ignore_check_constraints=ON; INSERT INTO checked VALUES (1);");
  CHECK(rank.work.size() == 600);
  CHECK(rank.calls.size() == 600);
  CHECK(rank.ranges.size() == 60);
}

// Why: an index is not checked against its table, and SQLite likes to read small indexes in place of tables.
TEST_CASE("nsys: an index that lies about its table is not read") {
  Database database(std::string(export_tables) + string_row(1, "gemm") + kernel_row(10, 20, 1, 1) +
                    "CREATE INDEX lie ON StringIds (value, id);");
  // The name stands twice in the file: in the table, and in the index that covers the query.
  std::string bytes = bytes_of(database.path());
  int found = 0;
  for (std::size_t at = bytes.find("gemm"); at != std::string::npos; at = bytes.find("gemm", at + 1)) ++found;
  REQUIRE(found == 2);
  bytes.replace(bytes.rfind("gemm"), 4, "evil");
  write_bytes(database.path(), bytes);
  const auto read = read_nsys(database.path());
  REQUIRE(read.has_value());
  CHECK(read->front().name(read->front().work[0].name) == "gemm");
}

TEST_CASE("nsys: what the first bytes tell") {
  const Database sound(small_export());
  const std::string good = bytes_of(sound.path());
  struct Row {
    const char* name;
    std::size_t at;
    std::string bytes;
    ErrorCode want;
    const char* message;
  };
  const Row rows[] = {
      {"another magic", 0, "sqlite", ErrorCode::malformed_trace, "byte 0"},
      {"a page size that is no power of two", 16, std::string("\x03\x01", 2), ErrorCode::malformed_trace, "page size"},
      {"no page size", 16, std::string("\0\0", 2), ErrorCode::malformed_trace, "page size"},
      {"written in WAL mode", 18, "\x02", ErrorCode::unsupported_format, "WAL"},
      {"readable in WAL mode only", 19, "\x02", ErrorCode::unsupported_format, "WAL"},
      {"a version to come", 19, "\x03", ErrorCode::malformed_trace, "version"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const TemporaryFolder folder;
    std::string bytes = good;
    bytes.replace(row.at, row.bytes.size(), row.bytes);
    write_bytes(folder.path() / "a.sqlite", bytes);
    const auto read = read_nsys(folder.path() / "a.sqlite");
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().code == row.want);
    CHECK(read.error().message.find(row.message) != std::string::npos);
  }
}

// Why: a cut-off upload and a half-written journal show plausible rows; only the sizes and neighbours tell.
TEST_CASE("nsys: a database that is not whole is refused") {
  const Database sound(small_export());
  const std::string good = bytes_of(sound.path());
  const TemporaryFolder folder;
  const auto path = folder.path() / "a.sqlite";
  const auto code_of = [&](std::string_view bytes) {
    write_bytes(path, bytes);
    const auto read = read_nsys(path);
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().code == ErrorCode::malformed_trace);
    return read.error().message;
  };
  write_bytes(path, "");
  CHECK(read_nsys(path).error().code == ErrorCode::empty_upload);
  const ingest::File empty = ingest::File::open(path).value();
  CHECK(ingest::check_sqlite_header(empty.descriptor()).error().message.find("header") != std::string::npos);
  CHECK(code_of(good.substr(0, 50)).find("header") != std::string::npos);
  CHECK(code_of(good.substr(0, good.size() - 1)).find("cut off") != std::string::npos);
  CHECK(code_of(good.substr(0, good.size() / 2)).find("cut off") != std::string::npos);
  std::string damaged = good;
  for (std::size_t page = 2; (page + 1) * 4096 <= damaged.size(); ++page) damaged[page * 4096] = '\x77';
  CHECK(code_of(damaged).find("damaged") != std::string::npos);

  write_bytes(path, good);
  for (const char* beside : {"a.sqlite-journal", "a.sqlite-wal"}) {
    CAPTURE(beside);
    write_bytes(folder.path() / beside, "");
    CHECK(read_nsys(path).has_value());  // left behind by a writer that has finished
    write_bytes(folder.path() / beside, "pages");
    const auto read = read_nsys(path);
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().code == ErrorCode::unsupported_format);
    std::filesystem::remove(folder.path() / beside);
  }
}

TEST_CASE("nsys: any path is a path") {
  const Database sound(small_export());
  const TemporaryFolder folder;
  for (const char* name : {"a?mode=rwc&x.sqlite", "50%41#b.sqlite", "with space;'\".sqlite", "größe.sqlite"}) {
    CAPTURE(name);
    std::filesystem::copy_file(sound.path(), folder.path() / name);
    CHECK(read_nsys(folder.path() / name).has_value());
  }
  std::filesystem::create_symlink(sound.path(), folder.path() / "link.sqlite");
  CHECK(read_nsys(folder.path() / "link.sqlite").has_value());
  const auto absent = read_nsys(folder.path() / "absent.sqlite");
  REQUIRE_FALSE(absent.has_value());
  CHECK(absent.error().code == ErrorCode::io_failed);
}

TEST_CASE("sqlite_file: every limit is enforced") {
  const Database database(small_export());
  const ingest::File opened = ingest::File::open(database.path()).value();
  const auto refused = [&](const ingest::SqliteLimits& limits) {
    const auto file = ingest::SqliteFile::open(opened.descriptor(), ingest::nsys::readable_tables(), limits);
    REQUIRE_FALSE(file.has_value());
    return file.error();
  };
  ingest::SqliteLimits limits;
  limits.file_bytes_max = 1000;
  CHECK(refused(limits).code == ErrorCode::trace_too_large);
  limits = {};
  limits.schema_rows_max = 3;
  CHECK(refused(limits).message.find("more than 3") != std::string::npos);
  limits = {};
  limits.steps_base = 0;
  limits.steps_per_byte = 0;
  CHECK(refused(limits).message.find("more steps") != std::string::npos);
  limits = {};
  limits.heap_bytes_max = 5'000;
  CHECK(refused(limits).message.find("more memory") != std::string::npos);
  CHECK(ingest::SqliteFile::open(opened.descriptor(), ingest::nsys::readable_tables()).has_value());
}

// Why: the authorizer is the last wall: even a query of ours could not reach another table or call a function.
TEST_CASE("sqlite_file: only what was asked for can be read") {
  const Database database("CREATE TABLE ours (a INTEGER); INSERT INTO ours VALUES (7); CREATE TABLE theirs (b);");
  constexpr std::string_view readable[] = {"OURS"};
  const ingest::File opened = ingest::File::open(database.path()).value();
  auto file = ingest::SqliteFile::open(opened.descriptor(), readable);
  REQUIRE(file.has_value());
  CHECK(file->has_table("Ours"));
  CHECK_FALSE(file->has_table("theirs"));
  for (const char* sql : {"SELECT b FROM theirs", "SELECT hex(a) FROM ours", "PRAGMA journal_mode", "ATTACH 'x' AS y",
                          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i FROM n",
                          "CREATE TABLE t (a)", "DELETE FROM ours", "SELECT load_extension('x')"}) {
    CAPTURE(sql);
    auto rows = file->query(sql);
    const bool refused = !rows.has_value() || !rows->next().has_value();
    CHECK(refused);
  }
  auto rows = file->query("SELECT a FROM ours");
  REQUIRE(rows.has_value());
  CHECK(rows->next().value());
  CHECK(rows->cells()[0].integer == 7);
}

// Why: whatever the bytes, the answer is a Timeline or an Error: no crash, no hang, no undefined behaviour.
TEST_CASE("nsys: damaged files are read or refused, never more") {
  const Database sound(small_export());
  const std::string good = bytes_of(sound.path());
  const TemporaryFolder folder;
  const auto path = folder.path() / "mutant.sqlite";
  std::mt19937_64 random(20260729);
  const auto below = [&](std::size_t n) { return std::size_t{random() % n}; };
  int refused = 0;
  for (int round = 0; round < 400; ++round) {
    std::string bytes = good;
    const std::size_t changes = 1 + below(8);
    for (std::size_t i = 0; i < changes; ++i) {
      // Half of the changes hit the first bytes of a page, where the structure is.
      const std::size_t page = below(bytes.size() / 4096) * 4096;
      const std::size_t at = below(2) == 0 ? page + below(16) : below(bytes.size());
      bytes[at] = static_cast<char>(random());
    }
    if (below(8) == 0) bytes.resize(below(bytes.size()));
    write_bytes(path, bytes);
    const auto read = read_nsys(path);
    if (!read) {
      ++refused;
      CHECK_FALSE(read.error().message.empty());
    }
  }
  CHECK(refused > 100);
  CHECK(refused < 400);
}
