// For: the tables of an Nsight Systems export that we read, and reading one by the columns that it happens to have.
// Not for: what the rows mean.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"
#include "analyzer/core/time.hpp"
#include "analyzer/ingest/sqlite_file.hpp"

namespace traceweir::ingest::nsys {

inline constexpr std::string_view kernel_table = "CUPTI_ACTIVITY_KIND_KERNEL";
inline constexpr std::string_view memcpy_table = "CUPTI_ACTIVITY_KIND_MEMCPY";
inline constexpr std::string_view memset_table = "CUPTI_ACTIVITY_KIND_MEMSET";
inline constexpr std::string_view graph_table = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
inline constexpr std::string_view runtime_table = "CUPTI_ACTIVITY_KIND_RUNTIME";
inline constexpr std::string_view nvtx_table = "NVTX_EVENTS";
inline constexpr std::string_view strings_table = "StringIds";
inline constexpr std::string_view payload_entries_table = "NVTX_PAYLOAD_SCHEMA_ENTRIES";
inline constexpr std::string_view samples_table = "GPU_METRICS";
inline constexpr std::string_view generic_table = "GENERIC_EVENTS";
inline constexpr std::string_view counters_table = "TARGET_INFO_GPU_METRICS";

/// All that are ever read, under each of their names; SqliteFile refuses the rest.
std::span<const std::string_view> readable_tables();

/// Why this database is none of ours.
/// Errors: unsupported_format (rocpd), not_a_trace (anything else; says which tables were found).
Result<void> check_is_export(const SqliteFile& file);

/// The name that `table` has in this file: with the highest suffix `_V2`, `_V3`, … that has rows, else plain; empty:
/// it is absent.
/// Errors: malformed_trace, io_failed.
Result<std::string> version_of_table(SqliteFile& file, std::string_view table);

/// Whether `table` has rows, under any of its names.
/// Errors: malformed_trace, io_failed.
Result<bool> has_rows(SqliteFile& file, std::string_view table);

/// Whether the table of exactly this name has the column, in upper or lower case.
bool has_column(const SqliteFile& file, std::string_view table, std::string_view column);

/// The rows of one table, with the columns in the order that was asked for. Tools that copy tables store integers as
/// reals (a column with a NULL in pandas) or as text: a whole real up to 2^53 and, but for columns of text, decimal
/// text are integers here. Shape: an absent table has no rows; an absent column is NULL in each.
class TableRows {
 public:
  /// Errors: malformed_trace.
  static Result<TableRows> open(SqliteFile& file, std::string_view table,
                                std::initializer_list<std::string_view> columns, std::string_view where = {}) {
    return open(file, table, std::span(columns.begin(), columns.size()), where);
  }
  /// Errors: malformed_trace.
  static Result<TableRows> open(SqliteFile& file, std::string_view table, std::span<const std::string_view> columns,
                                std::string_view where = {});
  /// The rows of the table of exactly this name, which is there. Errors: malformed_trace, io_failed.
  static Result<TableRows> of(SqliteFile& file, const std::string& name, std::span<const std::string_view> columns,
                              std::string_view where);
  /// Moves to the next row. false: there is none.
  /// Errors: malformed_trace, io_failed.
  Result<bool> next();
  [[nodiscard]] const Cell& operator[](std::size_t column) const { return row_[column]; }

 private:
  std::optional<SqliteScan> scan_;
  std::optional<SqliteRows> rows_;  ///< where only SQLite can read the table
  std::vector<char> is_text_;       ///< by column
  std::vector<Cell> cells_;         ///< of a row of SQLite's
  std::span<Cell> row_;
};

/// The integer in `cell`; `absent` where it is NULL; nothing where it is of another type.
inline std::optional<std::int64_t> integer_or(const Cell& cell, std::int64_t absent) {
  if (cell.type == Cell::Type::integer) return cell.integer;
  if (cell.type == Cell::Type::null) return absent;
  return std::nullopt;
}

/// The span of a row. Nothing where a bound is no integer.
inline std::optional<Interval> span_of(const Cell& begin, const Cell& end) {
  if (begin.type != Cell::Type::integer || end.type != Cell::Type::integer) return std::nullopt;
  return Interval{Nanos{begin.integer}, Nanos{end.integer}};
}

/// The process of a globalTid or globalPid. Source: spec of formats, section 1.6.
constexpr std::int64_t process_of(std::int64_t global_id) { return (global_id >> 24) & 0xFFFFFF; }

}  // namespace traceweir::ingest::nsys
