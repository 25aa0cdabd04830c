#include "analyzer/ingest/nsys_schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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

bool same_column(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

std::string some_names(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < std::min(names.size(), names_shown_max); ++i)
    out += (i == 0 ? "" : ", ") + clean_text(names[i], 60);
  if (names.size() > names_shown_max) out += fmt::format(" and {} more", names.size() - names_shown_max);
  return out;
}

}  // namespace

std::span<const std::string_view> readable_tables() { return tables; }

Result<void> check_is_export(const SqliteFile& file) {
  const auto& found = file.tables();
  if (std::any_of(std::begin(marks), std::end(marks), [&](auto mark) { return file.has_table(mark); })) return {};
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
  TableRows rows;
  const auto present = file.columns(table);
  if (present.empty()) return rows;
  std::string list;
  for (const std::string_view column : columns) {
    const bool has = std::any_of(present.begin(), present.end(), [&](auto& name) { return same_column(name, column); });
    list += (list.empty() ? "" : ", ") + (has ? fmt::format("\"{}\"", column) : std::string("NULL"));
  }
  // An index may disagree with its table, and only tables were checked.
  const std::string condition = where.empty() ? std::string() : fmt::format(" WHERE {}", where);
  TRACEWEIR_TRY(query, file.query(fmt::format("SELECT {} FROM \"{}\" NOT INDEXED{}", list, table, condition)));
  rows.rows_ = std::move(query);
  return rows;
}

Result<bool> TableRows::next() {
  if (!rows_) return false;
  TRACEWEIR_TRY(more, rows_->next());
  cells_ = rows_->cells();
  return more;
}

std::optional<std::int64_t> integer_or(const Cell& cell, std::int64_t absent) {
  if (cell.type == Cell::Type::integer) return cell.integer;
  if (cell.type == Cell::Type::null) return absent;
  return std::nullopt;
}

std::optional<Interval> span_of(const Cell& begin, const Cell& end) {
  if (begin.type != Cell::Type::integer || end.type != Cell::Type::integer) return std::nullopt;
  return Interval{Nanos{begin.integer}, Nanos{end.integer}};
}

}  // namespace traceweir::ingest::nsys
