// For: databases made from SQL while the test runs, as an exporter or an enemy would make them, and reading them back.
// Not for: files of the corpus.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"
#include "analyzer/timeline/timeline.hpp"

namespace traceweir::test {

/// A folder of its own that goes with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Runs `sql` on the database at `path`, with everything of SQLite that an enemy would use switched on.
void run_sql(const std::filesystem::path& path, const std::string& sql);

/// The bytes of a file, and back.
std::string bytes_of(const std::filesystem::path& path);
void write_bytes(const std::filesystem::path& path, std::string_view bytes);

/// A database in a temporary folder.
class Database {
 public:
  explicit Database(const std::string& sql) { run_sql(path(), sql); }
  [[nodiscard]] std::filesystem::path path() const { return folder_.path() / "report.sqlite"; }

 private:
  TemporaryFolder folder_;
};

/// Errors: those of ingest::read_sqlite_trace.
Result<std::vector<timeline::Timeline>> read_nsys(const std::filesystem::path& path);

/// The only rank of a database made of `sql`. Fails the test where it is refused or holds several.
timeline::Timeline rank_of(const std::string& sql);

/// Tables as an exporter makes them, without rows.
inline constexpr const char* export_tables = R"sql(
  CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
  CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (
    start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL,
    streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL,
    shortName INTEGER NOT NULL, mangledName INTEGER, graphNodeId INTEGER);
  CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (
    start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL,
    streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL,
    copyKind INTEGER NOT NULL, srcKind INTEGER, dstKind INTEGER, srcDeviceId INTEGER, dstDeviceId INTEGER,
    graphNodeId INTEGER);
  CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (
    start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL,
    streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, value INTEGER NOT NULL,
    bytes INTEGER NOT NULL, graphNodeId INTEGER, memKind INTEGER);
  CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (
    start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL,
    streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, graphId INTEGER, graphExecId INTEGER);
  CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (
    start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER,
    correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);
  CREATE TABLE NVTX_EVENTS (
    start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, text TEXT, globalTid INTEGER,
    endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);
)sql";

/// The same, in SQL: the globalPid of process 100, and the globalTid of its thread 7.
inline constexpr std::int64_t process_100 = (std::int64_t{1} << 48) + (std::int64_t{100} << 24);

/// Rows of those tables, of process 100 on device 0 and stream 7.
std::string string_row(int id, std::string_view text);
std::string kernel_row(std::int64_t begin, std::int64_t end, std::int64_t correlation, int name);
std::string call_row(std::int64_t begin, std::int64_t end, std::int64_t correlation, int name);
std::string range_row(std::int64_t begin, std::int64_t end, std::string_view text);

/// How often `code` was met.
std::int64_t count_of(const timeline::Timeline& timeline, FindingCode code);

}  // namespace traceweir::test
