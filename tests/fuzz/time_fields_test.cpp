// Times that no clock shows: whatever stands in a time field, the row is used or counted, and its neighbour is
// measured.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <rapidcheck.h>
#include <sqlite3.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/ingest/ingest.hpp"
#include "tests/fuzz/memory_file.hpp"
#include "tests/fuzz/upload_check.hpp"

using namespace traceweir;

namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t year_2500 = 16'725'225'600'000'000;  // µs

/// Limits and their neighbours, zero, small times of both signs, now in µs and in ns, the year 2500, anything.
rc::Gen<std::int64_t> any_time() {
  static const std::vector<std::int64_t> edges = {least,
                                                  least + 1,
                                                  -1,
                                                  0,
                                                  1,
                                                  most - 1,
                                                  most,
                                                  most / 2,
                                                  least / 2,
                                                  most / 1000,
                                                  most / 1000 + 1,
                                                  least / 1000,
                                                  1'764'000'000'000'000,
                                                  1'764'000'000'000'000'000,
                                                  year_2500};
  return rc::gen::oneOf(rc::gen::elementOf(edges), rc::gen::inRange<std::int64_t>(-2000, 4000),
                        rc::gen::arbitrary<std::int64_t>());
}

/// One row of GPU work: where it begins and ends (databases) or how long it takes (Kineto).
struct Times {
  std::int64_t begin, other;
};

std::vector<Times> any_rows() {
  std::vector<Times> rows;
  for (int count = *rc::gen::inRange(0, 6); count > 0; --count) rows.push_back({*any_time(), *any_time()});
  return rows;
}

/// Decimal µs with as many digits behind the point as a profiler may write.
std::string any_spelling(std::int64_t time) {
  const std::string whole = std::to_string(time);
  return *rc::gen::element(whole, whole + ".5", whole + ".0009999", fmt::format("\"{}\"", whole), whole + "e3",
                           whole + "e-3");
}

std::string kernel(const std::string& ts, const std::string& dur) {
  return fmt::format(
      R"({{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":{},"dur":{},"args":{{"device":0,"stream":7}}}})", ts,
      dur);
}

std::string kineto_of(const std::vector<Times>& rows) {
  std::string events = kernel("1000", "10");
  for (const Times& row : rows) events += "," + kernel(any_spelling(row.begin), any_spelling(row.other));
  return R"({"schemaVersion": 1, "traceEvents": [)" + events + "]}";
}

class Export {
 public:
  Export() {
    sqlite3* raw = nullptr;
    RC_ASSERT(sqlite3_open(":memory:", &raw) == SQLITE_OK);
    db_.reset(raw);
    run("PRAGMA page_size = 512;"
        "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT "
        "NULL,"
        "  contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,"
        "  demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, graphNodeId INTEGER);"
        "INSERT INTO StringIds VALUES (1, 'gemm');");
  }

  void add(const Times& row) {
    // The least number has no literal of its own.
    const auto literal = [](std::int64_t n) { return n == least ? fmt::format("({} - 1)", n + 1) : std::to_string(n); };
    run(fmt::format(
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({}, {}, 0, 1, 7, NULL, 281475077570560, 1, 1, NULL);",
        literal(row.begin), literal(row.other)));
  }

  [[nodiscard]] std::string bytes() const {
    sqlite3_int64 size = 0;
    const std::unique_ptr<unsigned char, void (*)(void*)> image(sqlite3_serialize(db_.get(), "main", &size, 0),
                                                                &sqlite3_free);
    RC_ASSERT(image != nullptr);
    return {reinterpret_cast<const char*>(image.get()), static_cast<std::size_t>(size)};
  }

 private:
  void run(const std::string& sql) {
    RC_ASSERT(sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  }

  std::unique_ptr<sqlite3, int (*)(sqlite3*)> db_{nullptr, &sqlite3_close};
};

std::string nsys_of(const std::vector<Times>& rows) {
  Export made;
  made.add({1'000'000, 1'010'000});
  for (const Times& row : rows) made.add(row);
  return made.bytes();
}

/// Rows of work that are in the timeline, and those that a finding counts.
struct Rows {
  std::int64_t used = 0, counted = 0;
};

Rows rows_in(const std::vector<timeline::Timeline>& ranks) {
  Rows rows;
  for (const timeline::Timeline& rank : ranks) {
    rows.used += static_cast<std::int64_t>(rank.work.size());
    for (const auto& [code, oddity] : rank.oddities) rows.counted += oddity.count;
  }
  return rows;
}

void check(const std::string& bytes, std::size_t added) {
  Rows rows;
  const auto answer = fuzz::check_upload(bytes, [&](ingest::TraceInput& input) {
    auto ranks = ingest::read_trace(input);
    if (ranks) rows = rows_in(*ranks);
    return ranks;
  });
  RC_ASSERT(answer == fuzz::Answer::read);
  RC_ASSERT(rows.used >= 1);
  RC_ASSERT(rows.used <= static_cast<std::int64_t>(added) + 1);
  RC_ASSERT(rows.used + rows.counted >= static_cast<std::int64_t>(added) + 1);
}

}  // namespace

TEST_CASE("times of Kineto rows: used or counted, whatever they are") {
  CHECK(rc::check([] {
    const std::vector<Times> rows = any_rows();
    check(kineto_of(rows), rows.size());
  }));
}

TEST_CASE("times of rows in a database: used or counted, whatever they are") {
  CHECK(rc::check([] {
    const std::vector<Times> rows = any_rows();
    check(nsys_of(rows), rows.size());
  }));
}
