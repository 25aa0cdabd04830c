#include "tests/unit/ingest/nsys_fixture.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "analyzer/ingest/sqlite_file.hpp"
#include "analyzer/ingest/sqlite_trace.hpp"
#include "analyzer/ingest/trace_input.hpp"

namespace traceweir::test {

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "traceweir-nsys-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void run_sql(const std::filesystem::path& path, const std::string& sql) {
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
  char* message = nullptr;
  const std::string all = "PRAGMA synchronous=OFF;" + sql;
  const int code = sqlite3_exec(db, all.c_str(), nullptr, nullptr, &message);
  CAPTURE(message);
  CHECK(code == SQLITE_OK);
  sqlite3_free(message);
  sqlite3_close(db);
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_bytes(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

Result<std::vector<timeline::Timeline>> read_nsys(const std::filesystem::path& path) {
  TRACEWEIR_TRY(input, ingest::TraceInput::open(path));
  // What is no database gets no further than its reader there, which says why.
  return ingest::is_sqlite(input.head()) ? ingest::read_trace(input) : ingest::read_sqlite_trace(input);
}

timeline::Timeline rank_of(const std::string& sql) {
  const Database database(sql);
  auto ranks = read_nsys(database.path());
  if (!ranks) FAIL(ranks.error().message);
  REQUIRE(ranks->size() == 1);
  return std::move(ranks->front());
}

std::string string_row(int id, std::string_view text) {
  return fmt::format("INSERT INTO StringIds VALUES ({}, '{}');", id, text);
}

std::string kernel_row(std::int64_t begin, std::int64_t end, std::int64_t correlation, int name) {
  return fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({}, {}, 0, 1, 7, {}, {}, {}, {}, NULL, NULL);",
                     begin, end, correlation, process_100, name, name);
}

std::string call_row(std::int64_t begin, std::int64_t end, std::int64_t correlation, int name) {
  return fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ({}, {}, 0, {}, {}, {}, 0, NULL);", begin, end,
                     process_100 + 7, correlation, name);
}

std::string range_row(std::int64_t begin, std::int64_t end, std::string_view text) {
  return fmt::format("INSERT INTO NVTX_EVENTS VALUES ({}, {}, 59, NULL, '{}', {}, NULL, NULL, 0);", begin, end, text,
                     process_100 + 7);
}

std::int64_t count_of(const timeline::Timeline& timeline, FindingCode code) {
  const auto found = timeline.oddities.find(code);
  return found == timeline.oddities.end() ? 0 : found->second.count;
}

}  // namespace traceweir::test
