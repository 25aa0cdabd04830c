// R4: one sqlite3_step pass over five columns of the kernels, and quick_check of the tables that an analysis reads.
#include <sqlite3.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "tests/bench/reference/stopwatch.hpp"

namespace {

constexpr const char* kernels =
    "SELECT start, \"end\", deviceId, streamId, demangledName FROM CUPTI_ACTIVITY_KIND_KERNEL";
constexpr const char* read_tables[] = {"StringIds",
                                       "CUPTI_ACTIVITY_KIND_KERNEL",
                                       "CUPTI_ACTIVITY_KIND_MEMCPY",
                                       "CUPTI_ACTIVITY_KIND_RUNTIME",
                                       "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                                       "NVTX_EVENTS"};

struct Found {
  std::uint64_t rows = 0;
  std::int64_t time = 0;
  std::int64_t numbers = 0;
};

bool pass(sqlite3* db, Found& found) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db, kernels, -1, &statement, nullptr) != SQLITE_OK) return false;
  int state = SQLITE_ROW;
  while ((state = sqlite3_step(statement)) == SQLITE_ROW) {
    ++found.rows;
    found.time += sqlite3_column_int64(statement, 1) - sqlite3_column_int64(statement, 0);
    for (int column = 2; column < 5; ++column) found.numbers += sqlite3_column_int64(statement, column);
  }
  sqlite3_finalize(statement);
  return state == SQLITE_DONE;
}

bool check(sqlite3* db) {
  for (const char* table : read_tables) {
    sqlite3_stmt* statement = nullptr;
    const std::string sql = fmt::format("PRAGMA quick_check({})", table);
    if (sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) return false;
    const bool row = sqlite3_step(statement) == SQLITE_ROW;
    const auto* said = row ? reinterpret_cast<const char*>(sqlite3_column_text(statement, 0)) : nullptr;
    const bool whole = said != nullptr && std::string(said) == "ok";
    sqlite3_finalize(statement);
    if (!whole) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const traceweir::bench::Stopwatch watch;
  sqlite3* db = nullptr;
  Found found;
  const bool whole = sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr) == SQLITE_OK &&
                     pass(db, found) && check(db);
  sqlite3_close(db);
  if (!whole) return EXIT_FAILURE;
  watch.print(fmt::format("\"kernels\": {}, \"kernel_ns\": {}, \"sum\": {}", found.rows, found.time, found.numbers));
  return EXIT_SUCCESS;
}
