#include "analyzer/ingest/nsys_stats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "analyzer/core/ascii.hpp"
#include "analyzer/core/text.hpp"
#include "analyzer/ingest/collectives.hpp"
#include "analyzer/ingest/nsys_stats_tables.hpp"
#include "analyzer/ingest/whole_text.hpp"
#include "analyzer/timeline/builder.hpp"

namespace traceweir::ingest {
namespace {

using timeline::CopyBytes;
using timeline::CopySum;
using timeline::Direction;
using timeline::DurationSum;
using timeline::KernelSum;
using timeline::Sums;

constexpr double time_max = 4e18;         // ns: about the end of what 64 bits hold
constexpr double total_bytes_max = 4e18;  // the same for sizes

struct UnitWord {
  std::string_view word;
  double factor;
};
constexpr UnitWord time_units[] = {{"ns", 1},     {"nsec", 1}, {"us", 1e3},   {"\u00b5s", 1e3}, {"\u03bcs", 1e3},
                                   {"usec", 1e3}, {"ms", 1e6}, {"msec", 1e6}, {"s", 1e9},       {"sec", 1e9}};
constexpr UnitWord byte_units[] = {{"B", 1},    {"bytes", 1}, {"KB", 1e3},        {"KiB", 1024.0},
                                   {"MB", 1e6}, {"GB", 1e9},  {"MiB", 1048576.0}, {"GiB", 1073741824.0}};

/// How a document writes numbers.
struct Spelling {
  char decimal = '.';
};

/// The mark in front of the last digits of a number that surely has a fraction, where it can be one.
std::optional<char> decimal_mark_in(std::string_view cell) {
  const std::size_t at = cell.find_last_of(".,");
  return at == std::string_view::npos ? std::nullopt : std::optional(cell[at]);
}

/// Percentages have one decimal and sizes three, in every release: their last mark is the decimal one.
bool always_has_fraction(const StatsTable& table) {
  const std::string_view first = table.columns.front();
  return first.starts_with("Time (%)") || first.starts_with("Time(%)") || first == "Total" ||
         first.starts_with("Total (");
}

Spelling spelling_of(const std::vector<StatsTable>& tables) {
  for (const StatsTable& table : tables)
    for (const auto& row : table.rows)
      if (always_has_fraction(table))
        if (const auto mark = decimal_mark_in(row.front())) return {*mark};
  return {};
}

/// `346,690,728.0` as `346690728.0`; nothing for what is no number.
std::optional<std::string> plain_number(std::string_view cell, Spelling spelling) {
  std::string out;
  for (const char c : cell) {
    if (is_digit(c))
      out += c;
    else if (c == spelling.decimal)
      out += '.';
    else if (c == '-' && out.empty())
      out += c;
    else if (c != '.' && c != ',' && c != '\'' && c != '_')
      return std::nullopt;
  }
  return out;
}

std::optional<double> number_in(std::string_view cell, Spelling spelling) {
  const auto plain = plain_number(cell, spelling);
  double value = 0;
  if (!plain || plain->empty()) return std::nullopt;
  const auto [end, error] = std::from_chars(plain->data(), plain->data() + plain->size(), value);
  if (error != std::errc{} || end != plain->data() + plain->size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::int64_t> integer_in(std::string_view cell, Spelling spelling) {
  const auto plain = plain_number(cell, spelling);
  std::int64_t value = 0;
  if (!plain) return std::nullopt;
  const auto [end, error] = std::from_chars(plain->data(), plain->data() + plain->size(), value);
  if (error != std::errc{} || end != plain->data() + plain->size()) return std::nullopt;
  return value;
}

/// A column, found by how its head begins, with the factor of the unit in its brackets.
struct Column {
  std::size_t index = 0;
  double factor = 1;
};

template <std::size_t n>
std::optional<Column> column_of(const StatsTable& table, std::initializer_list<std::string_view> names,
                                const UnitWord (&units)[n], double unitless) {
  for (const std::string_view name : names)
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const std::string& head = table.columns[i];
      if (head == name) return Column{i, unitless};
      if (!head.starts_with(std::string(name) + " (") || !head.ends_with(')')) continue;
      const std::string unit = head.substr(name.size() + 2, head.size() - name.size() - 3);
      for (const UnitWord& row : units)
        if (row.word == unit) return Column{i, row.factor};
    }
  return std::nullopt;
}

std::optional<Column> time_column(const StatsTable& table, std::initializer_list<std::string_view> names) {
  return column_of(table, names, time_units, 1);
}

std::optional<std::size_t> count_column(const StatsTable& table) {
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    for (const std::string_view name : {"Instances", "Count", "Operations", "Num Calls"})
      if (table.columns[i] == name) return i;
  return std::nullopt;
}

tl::unexpected<Error> wrong(const StatsTable& table, const std::vector<std::string>& row, std::string_view what) {
  return fail(ErrorCode::malformed_trace,
              fmt::format("{}: the row of \"{}\": {}", table.report, clean_text(row.back(), 80), what));
}

/// Exact where the cell is an integer of ns; a cell in another unit is as exact as it was printed.
std::optional<Nanos> nanos_in(const std::string& cell, const Column& column, Spelling spelling) {
  if (const auto exact = column.factor == 1 ? integer_in(cell, spelling) : std::nullopt)
    return *exact < 0 ? std::nullopt : std::optional(Nanos{*exact});
  const auto value = number_in(cell, spelling);
  if (!value || *value < 0 || *value * column.factor > time_max) return std::nullopt;
  return Nanos{std::llround(*value * column.factor)};
}

/// The columns of a table of durations.
struct DurationColumns {
  std::size_t count;
  Column total;
  std::optional<Column> min, max, median;
};

Result<DurationColumns> duration_columns(const StatsTable& table) {
  const auto count = count_column(table);
  const auto total = time_column(table, {"Total Time", "Total"});
  if (!count || !total)
    return fail(ErrorCode::malformed_trace,
                fmt::format("{}: no column of {}", table.report,
                            count ? "total times in a known unit" : "counts (Instances, Count, Operations)"));
  return DurationColumns{*count, *total, time_column(table, {"Min", "Minimum"}), time_column(table, {"Max", "Maximum"}),
                         time_column(table, {"Med", "Median"})};
}

Result<DurationSum> durations_of(const StatsTable& table, const DurationColumns& columns,
                                 const std::vector<std::string>& row, Spelling spelling) {
  DurationSum out;
  out.name = clean_text(row.back());
  const auto count = integer_in(row[columns.count], spelling);
  const auto total = nanos_in(row[columns.total.index], columns.total, spelling);
  if (!count || *count <= 0) return wrong(table, row, "its count is no number above 0");
  if (!total) return wrong(table, row, "its total time is no number of at least 0");
  out.count = *count;
  out.total = *total;
  if (columns.min) out.min = nanos_in(row[columns.min->index], *columns.min, spelling);
  if (columns.max) out.max = nanos_in(row[columns.max->index], *columns.max, spelling);
  if (out.min && out.max && *out.min > *out.max) return wrong(table, row, "its least time is above its greatest");
  if (columns.median) {
    const auto median = number_in(row[columns.median->index], spelling);
    if (median && *median >= 0 && *median * columns.median->factor <= time_max)
      out.median = *median * columns.median->factor;
  }
  return out;
}

/// The kind of a communication kernel. Terminals cut names: then what stands before the cut arguments tells.
std::optional<timeline::Collective> collective_of(std::string_view name) {
  if (const auto kind = collective_of_kernel(name)) return kind;
  return collective_of_kernel(name.substr(0, name.find_first_of("(<")));
}

/// How nsys calls the ways of a copy: `HtoD`, and from 2023 on `Host-to-Device`.
struct Way {
  std::string_view short_word, long_word;
  Direction direction;
};
constexpr Way ways[] = {{"HtoD", "Host-to-Device", Direction::h2d},   {"HtoA", "Host-to-Array", Direction::h2d},
                        {"DtoH", "Device-to-Host", Direction::d2h},   {"AtoH", "Array-to-Host", Direction::d2h},
                        {"DtoD", "Device-to-Device", Direction::d2d}, {"AtoA", "Array-to-Array", Direction::d2d},
                        {"AtoD", "Array-to-Device", Direction::d2d},  {"DtoA", "Device-to-Array", Direction::d2d}};

Direction direction_of(std::string_view operation) {
  for (const Way& way : ways)
    if (operation.find(way.short_word) != std::string_view::npos ||
        operation.find(way.long_word) != std::string_view::npos)
      return way.direction;
  return Direction::none;
}

bool is_peer(std::string_view operation) {
  return operation.find("PtoP") != std::string_view::npos || operation.find("eer-to-") != std::string_view::npos;
}

Result<void> read_kernels(const StatsTable& table, Spelling spelling, Sums& sums) {
  auto& kernels = sums.kernels.emplace();
  if (table.skipped) return {};
  TRACEWEIR_TRY(columns, duration_columns(table));
  for (const auto& row : table.rows) {
    TRACEWEIR_TRY(durations, durations_of(table, columns, row, spelling));
    const auto kind = collective_of(row.back());
    kernels.push_back(KernelSum{std::move(durations), kind});
  }
  return {};
}

Result<void> read_copies(const StatsTable& table, Spelling spelling, Sums& sums) {
  auto& copies = sums.copies.emplace();
  if (table.skipped) return {};
  TRACEWEIR_TRY(columns, duration_columns(table));
  for (const auto& row : table.rows) {
    TRACEWEIR_TRY(durations, durations_of(table, columns, row, spelling));
    copies.push_back(CopySum{std::move(durations), direction_of(row.back()), is_peer(row.back())});
  }
  return {};
}

Result<void> read_copy_bytes(const StatsTable& table, Spelling spelling, Sums& sums) {
  constexpr double kibi = 1024;  // what 2020 and 2021 count in, without saying so in the head
  auto& sizes = sums.copy_bytes.emplace();
  if (table.skipped) return {};
  const auto count = count_column(table);
  const auto total = column_of(table, {"Total"}, byte_units, kibi);
  if (!count || !total)
    return fail(ErrorCode::malformed_trace,
                fmt::format("{}: no column of counts, or of sizes in a known unit", table.report));
  for (const auto& row : table.rows) {
    const auto bytes = number_in(row[total->index], spelling);
    const auto copies = integer_in(row[*count], spelling);
    if (!bytes || *bytes < 0 || *bytes * total->factor > total_bytes_max || !copies || *copies < 0)
      return wrong(table, row, "its size or count is no number");
    sizes.push_back(CopyBytes{clean_text(row.back()), direction_of(row.back()), *copies, *bytes * total->factor});
  }
  return {};
}

struct TableReader {
  std::string_view report;
  Result<void> (*read)(const StatsTable&, Spelling, Sums&);
};
constexpr TableReader table_readers[] = {{"cuda_gpu_kern_sum", &read_kernels},
                                         {"cuda_gpu_mem_time_sum", &read_copies},
                                         {"cuda_gpu_mem_size_sum", &read_copy_bytes}};

bool has_column(const StatsTable& table, std::string_view name) {
  return std::any_of(table.columns.begin(), table.columns.end(), [&](const auto& c) { return c.starts_with(name); });
}

/// The report of a table that nothing in the text names, told by its columns; empty: none that we read.
std::string_view report_by_columns(const StatsTable& table) {
  if (table.columns.empty()) return {};
  for (const std::string_view foreign : {"Category", "Style", "GridXYZ", "Lvl", "Device", "Strm", "Range", "PID"})
    if (has_column(table, foreign)) return {};
  if (table.columns.back() == "Operation")
    return table.columns.front().starts_with("Time") ? "cuda_gpu_mem_time_sum" : "cuda_gpu_mem_size_sum";
  return has_column(table, "Instances") ? "cuda_gpu_kern_sum" : "";
}

/// Whether rows are missing: the percentages of a whole table add up to 100, each rounded to a tenth. nsys prints no
/// other mark of a table's end.
bool lacks_rows(const StatsTable& table, Spelling spelling) {
  constexpr double rounding = 0.06;  // of one row, a tenth's half and a little
  const bool has_percent = !table.columns.empty() && table.columns.front().starts_with("Time") &&
                           table.columns.front().find('%') != std::string::npos;
  if (!has_percent || table.rows.empty()) return false;
  double sum = 0;
  for (const auto& row : table.rows) sum += number_in(row.front(), spelling).value_or(0);
  return 100 - sum > rounding * static_cast<double>(table.rows.size()) + rounding;
}

Result<Sums> sums_of(const std::vector<StatsTable>& tables, timeline::TimelineBuilder& builder) {
  const Spelling spelling = spelling_of(tables);
  Sums sums;
  for (const StatsTable& table : tables) {
    for (const TableReader& reader : table_readers) {
      if (reader.report != table.report) continue;
      Sums one;
      TRACEWEIR_TRY_VOID(reader.read(table, spelling, one));
      if (lacks_rows(table, spelling))
        builder.note(FindingCode::truncated, table.report + ": its percentages do not add up to 100");
      TRACEWEIR_TRY_VOID(timeline::add_tables(sums, std::move(one)));
    }
  }
  return sums;
}

}  // namespace

Result<std::vector<timeline::Timeline>> read_nsys_stats(TraceInput& input) {
  TRACEWEIR_TRY(text, whole_text(input, stats_bytes_max));
  TRACEWEIR_TRY(tables, stats_tables(text));
  for (StatsTable& table : tables)
    if (table.report.empty()) table.report = report_by_columns(table);
  timeline::TimelineBuilder builder;
  TRACEWEIR_TRY(sums, sums_of(tables, builder));
  if (!sums.kernels && !sums.copies && !sums.copy_bytes)
    return fail(ErrorCode::not_a_trace,
                "output of nsys stats without a table of kernels or copies; give at least "
                "cuda_gpu_kern_sum, cuda_gpu_mem_time_sum and cuda_gpu_mem_size_sum");
  builder.sums = std::move(sums);
  builder.source.producer = "nsys stats";
  std::vector<timeline::Timeline> ranks;
  ranks.push_back(std::move(builder).finish());
  return ranks;
}

}  // namespace traceweir::ingest
