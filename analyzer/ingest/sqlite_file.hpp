// For: a SQLite database from a stranger, opened so that nothing in it runs: no views, triggers, virtual tables,
// functions or generated columns, bounded memory and steps. Only this and sqlite_vfs see sqlite3; whole tables are read
// past it (sqlite_scan.hpp).
// Not for: databases of our own; and not for what the tables mean.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"
#include "analyzer/ingest/sqlite_cell.hpp"
#include "analyzer/ingest/sqlite_scan.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace traceweir::ingest {

/// The rows of one query, one after the other.
/// Thread: one at a time; outlived by its SqliteFile.
class SqliteRows {
 public:
  /// Moves to the next row. false: there is none.
  /// Errors: malformed_trace, io_failed.
  Result<bool> next();
  /// The row that next() moved to.
  [[nodiscard]] std::span<const Cell> cells() const { return cells_; }

 private:
  friend class SqliteFile;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  explicit SqliteRows(sqlite3_stmt* statement);
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  std::vector<Cell> cells_;
};

/// What a database may cost. The heap limit is SQLite's and so the whole process's: an analysis has one to itself.
struct SqliteLimits {
  std::uint64_t file_bytes_max = std::uint64_t{16} << 30;
  std::int64_t heap_bytes_max = std::int64_t{256} << 20;
  std::int64_t schema_rows_max = 2000;
  std::int64_t value_bytes_max = std::int64_t{16} << 20;
  /// Steps of SQLite's machine that one query may take: a base and so many per byte of the file. A check or a scan
  /// of a real export takes under 2 per byte.
  std::int64_t steps_base = 20'000'000;
  std::int64_t steps_per_byte = 16;
};

/// Whether `head` begins as a SQLite database does. Units: 16 bytes are enough.
bool is_sqlite(std::string_view head);

/// At the end of a readable table's name: the table goes on with `_` and hex digits or underscores, as those of rocpd
/// do
/// (`rocpd_event_0000abcd_…`). The plain name is then no readable table.
inline constexpr std::string_view any_uuid = "_*";

/// An open database.
/// Thread: one at a time.
class SqliteFile {
 public:
  /// Opens a file that is open for reading and outlives this, and checks its header and schema; from then on only
  /// `readable` tables can be read, and only as plain tables.
  /// Errors: io_failed; trace_too_large; malformed_trace (damaged, cut off, a readable table that is a view or virtual
  ///         or has a trigger, generated columns, too many tables); unsupported_format (still open in its writer).
  /// Source: sqlite.org, "Defense Against The Dark Arts"; spec of reliability, section 2.1.
  static Result<SqliteFile> open(int descriptor, std::span<const std::string_view> readable,
                                 const SqliteLimits& limits = {});
  ~SqliteFile();
  SqliteFile(SqliteFile&&) noexcept;
  SqliteFile& operator=(SqliteFile&&) noexcept;

  /// Names of all tables, in the order of the schema.
  [[nodiscard]] const std::vector<std::string>& tables() const { return tables_; }
  [[nodiscard]] bool has_table(std::string_view table) const;
  /// Columns of a readable table; empty: there is no such table.
  [[nodiscard]] std::span<const std::string> columns(std::string_view table) const;

  /// All rows of a readable table by these columns, past SQLite. Nothing: only SQLite can read it.
  /// Shape:  an absent column is NULL in each row. Errors: malformed_trace, io_failed.
  Result<std::optional<SqliteScan>> scan(std::string_view table, std::span<const std::string_view> columns);

  /// Checks the pages of a table, once. To be called before a query reads it: SQLite believes what is on them.
  /// Errors: malformed_trace, io_failed. Cost: one slow pass over them.
  Result<void> check(std::string_view table);

  /// Errors: malformed_trace (what SQLite says to it).
  Result<SqliteRows> query(const std::string& sql);

 private:
  struct Connection;
  /// A readable table.
  struct Table {
    ScanTree tree;
    std::vector<std::string> columns;
    std::set<std::size_t> defaulted;   ///< columns that say what stands in for a field that a row lacks
    std::optional<std::size_t> rowid;  ///< the column that is another name for the row id
  };
  explicit SqliteFile(std::unique_ptr<Connection> connection);
  Result<void> claim_pages();
  Result<void> inspect_schema(const SqliteLimits& limits);
  Result<void> inspect_table(const std::string& table, ScanTree tree);
  Result<bool> has_rowids(const Table& table) const;
  Result<void> check_by_sqlite(const std::string& pragma);
  [[nodiscard]] const Table* find(std::string_view table) const;

  std::unique_ptr<Connection> connection_;
  std::vector<std::string> tables_;
  std::map<std::string, Table, std::less<>> readable_;  ///< by lower-case name
  std::set<std::string, std::less<>> checked_;          ///< readable tables, by lower-case name
  std::unique_ptr<PageOwners> owners_;
  int descriptor_ = -1;
  std::size_t row_bytes_max_ = 0;
};

}  // namespace traceweir::ingest
