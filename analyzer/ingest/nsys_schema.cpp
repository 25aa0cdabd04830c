#include "analyzer/ingest/nsys_schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "analyzer/core/ascii.hpp"
#include "analyzer/core/text.hpp"

namespace traceweir::ingest::nsys {
namespace {

constexpr std::string_view tables[] = {
    kernel_table,
    memcpy_table,
    memset_table,
    graph_table,
    runtime_table,
    nvtx_table,
    strings_table,
    payload_entries_table,
    samples_table,
    counters_table,
    generic_table,
    "DIAGNOSTIC_EVENT",
    "EXPORT_META_DATA",
    "META_DATA_EXPORT",
    "TARGET_INFO_GPU",
    "TARGET_INFO_CUDA_DEVICE",
    "TARGET_INFO_SYSTEM_ENV",
};

/// One of these makes a database an export.
constexpr std::string_view marks[] = {strings_table, kernel_table,  memcpy_table, memset_table,
                                      graph_table,   runtime_table, nvtx_table};

constexpr std::size_t names_shown_max = 5;

/// Later schemas number their tables. Newest first; the plain name is the oldest.
constexpr std::string_view version_suffixes[] = {"_V9", "_V8", "_V7", "_V6", "_V5", "_V4", "_V3", "_V2", ""};

/// Columns whose text is a text even where it is made of digits.
constexpr std::string_view text_columns[] = {"text",        "value",     "name",       "metricName", "uuid",
                                             "kernel_name", "cuda_name", "binaryData", "string"};

/// All of `tables`, under every suffix. Shape: the views refer to the names.
struct ReadableTables {
  std::vector<std::string> names;
  std::vector<std::string_view> views;
  ReadableTables() {
    for (const std::string_view table : tables)
      for (const std::string_view suffix : version_suffixes) names.push_back(fmt::format("{}{}", table, suffix));
    views.assign(names.begin(), names.end());
  }
};

bool has_any_version(const SqliteFile& file, std::string_view table) {
  return std::any_of(std::begin(version_suffixes), std::end(version_suffixes),
                     [&](auto suffix) { return file.has_table(fmt::format("{}{}", table, suffix)); });
}

// Beyond it a real no longer tells one integer from the next.
constexpr double exact_real_max = 9007199254740992.0;

std::optional<std::int64_t> integer_in(const Cell& cell) {
  if (cell.type == Cell::Type::real) {
    const bool whole = std::fabs(cell.real) <= exact_real_max && std::trunc(cell.real) == cell.real;
    return whole ? std::optional(static_cast<std::int64_t>(cell.real)) : std::nullopt;
  }
  std::int64_t number = 0;
  const char* const last = cell.text.data() + cell.text.size();
  const auto [end, error] = std::from_chars(cell.text.data(), last, number);
  if (cell.text.empty() || error != std::errc{} || end != last) return std::nullopt;
  return number;
}

bool same_column(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

std::string some_names(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < std::min(names.size(), names_shown_max); ++i)
    out += (i == 0 ? "" : ", ") + clean_text(names[i], 60);
  if (names.size() > names_shown_max) out += fmt::format(" and {} more", names.size() - names_shown_max);
  return out;
}

std::string sql_of(const SqliteFile& file, const std::string& table, std::span<const std::string_view> columns,
                   std::string_view where) {
  std::string list = columns.empty() ? "1" : "";
  for (const std::string_view column : columns) {
    list += list.empty() ? "" : ", ";
    list += has_column(file, table, column) ? fmt::format("\"{}\"", column) : std::string("NULL");
  }
  // An index may disagree with its table, and only tables were checked.
  const std::string condition = where.empty() ? std::string() : fmt::format(" WHERE {}", where);
  return fmt::format("SELECT {} FROM \"{}\" NOT INDEXED{}", list, table, condition);
}

}  // namespace

std::span<const std::string_view> readable_tables() {
  static const ReadableTables readable;
  return readable.views;
}

Result<std::string> version_of_table(SqliteFile& file, std::string_view table) {
  std::string present;
  for (const std::string_view suffix : version_suffixes) {
    std::string name = fmt::format("{}{}", table, suffix);
    if (!file.has_table(name)) continue;
    TRACEWEIR_TRY(rows, TableRows::of(file, name, {}, {}));
    TRACEWEIR_TRY(any, rows.next());
    if (any) return name;
    present = std::move(name);
  }
  return present;
}

Result<bool> has_rows(SqliteFile& file, std::string_view table) {
  TRACEWEIR_TRY(rows, TableRows::open(file, table, {}));
  return rows.next();
}

bool has_column(const SqliteFile& file, std::string_view table, std::string_view column) {
  const auto present = file.columns(table);
  return std::any_of(present.begin(), present.end(), [&](auto& name) { return same_column(name, column); });
}

Result<void> check_is_export(const SqliteFile& file) {
  const auto& found = file.tables();
  if (std::any_of(std::begin(marks), std::end(marks), [&](auto mark) { return has_any_version(file, mark); }))
    return {};
  if (std::any_of(found.begin(), found.end(), [](const auto& name) { return name.starts_with("rocpd_"); }))
    return fail(
        ErrorCode::unsupported_format,
        "this is a rocpd database in a layout that is not read (its tables have no uuid in their names); record "
        "the job again with rocprofv3 --output-format rocpd, or with the PyTorch profiler");
  if (found.empty()) return fail(ErrorCode::not_a_trace, "a SQLite database without any table");
  return fail(
      ErrorCode::not_a_trace,
      fmt::format("a SQLite database, but no export of Nsight Systems and no rocpd database: it has the tables {}",
                  some_names(found)));
}

Result<TableRows> TableRows::open(SqliteFile& file, std::string_view table, std::span<const std::string_view> columns,
                                  std::string_view where) {
  TRACEWEIR_TRY(name, version_of_table(file, table));
  if (name.empty()) return TableRows();
  return of(file, name, columns, where);
}

Result<TableRows> TableRows::of(SqliteFile& file, const std::string& name, std::span<const std::string_view> columns,
                                std::string_view where) {
  TableRows rows;
  for (const std::string_view column : columns) {
    const bool is_text = std::find(std::begin(text_columns), std::end(text_columns), column) != std::end(text_columns);
    rows.is_text_.push_back(is_text ? 1 : 0);
  }
  if (where.empty()) {
    TRACEWEIR_TRY(scan, file.scan(name, columns));
    rows.scan_ = std::move(scan);
  }
  if (rows.scan_) return rows;
  TRACEWEIR_TRY_VOID(file.check(name));
  TRACEWEIR_TRY(query, file.query(sql_of(file, name, columns, where)));
  rows.rows_ = std::move(query);
  return rows;
}

Result<bool> TableRows::next() {
  if (!scan_ && !rows_) return false;
  TRACEWEIR_TRY(more, scan_ ? scan_->next() : rows_->next());
  if (!more) return false;  // the texts of the last row are gone
  if (rows_) cells_.assign(rows_->cells().begin(), rows_->cells().end());
  row_ = scan_ ? scan_->cells() : std::span(cells_);
  if (scan_ && scan_->only_integers()) return true;
  for (std::size_t i = 0; i < is_text_.size(); ++i) {
    const bool may_be_number =
        row_[i].type == Cell::Type::real || (row_[i].type == Cell::Type::text && is_text_[i] == 0);
    if (!may_be_number) continue;
    if (const auto number = integer_in(row_[i]))
      row_[i] = {.type = Cell::Type::integer, .integer = *number, .text = {}};
  }
  return true;
}

}  // namespace traceweir::ingest::nsys
