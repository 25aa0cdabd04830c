#include "cli/series_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iostream>
#include <optional>

#include "analyzer/core/ascii.hpp"
#include "analyzer/core/text.hpp"

namespace traceweir::cli {
namespace {

constexpr std::string_view value_column = "value";
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// One record of the file.
struct Row {
  std::int64_t line = 1;
  std::vector<std::string> fields;
};

tl::unexpected<Error> bad_line(std::int64_t line, std::string_view why) {
  return fail(ErrorCode::bad_body, fmt::format("line {}: {}", line, why));
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// Rows of a text, one after the other.
class Rows {
 public:
  explicit Rows(std::string_view text) : rest_(text) {
    if (rest_.starts_with(byte_order_mark)) rest_.remove_prefix(byte_order_mark.size());
  }

  /// Nothing at the end. Errors: bad_body: an open quote, text behind a quoted field.
  Result<std::optional<Row>> next() {
    skip_empty_lines();
    if (rest_.empty()) return std::optional<Row>{};
    Row row;
    row.line = line_;
    do {
      TRACEWEIR_TRY(field, next_field());
      row.fields.push_back(std::move(field));
    } while (take(','));
    if (!rest_.empty() && !take('\n')) return bad_line(line_, "text behind a quoted field");
    ++line_;
    return std::optional(std::move(row));
  }

 private:
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void skip_blanks() {
    while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
  }

  void skip_empty_lines() {
    for (;;) {
      const std::string_view line = rest_.substr(0, rest_.find('\n'));
      const auto first = std::find_if_not(line.begin(), line.end(), &is_blank);
      if (first != line.end() && *first != '#') return;
      if (line.size() == rest_.size()) {
        rest_ = {};
        return;
      }
      rest_.remove_prefix(line.size() + 1);
      ++line_;
    }
  }

  Result<std::string> next_field() {
    skip_blanks();
    if (take('"')) return quoted_field();
    std::string_view field = rest_.substr(0, rest_.find_first_of(",\n"));
    rest_.remove_prefix(field.size());
    while (!field.empty() && is_blank(field.back())) field.remove_suffix(1);
    return std::string(field);
  }

  Result<std::string> quoted_field() {
    const std::int64_t opened = line_;
    std::string field;
    for (;;) {
      const std::size_t quote = rest_.find('"');
      if (quote == std::string_view::npos) return bad_line(opened, "a quote is opened here and never closed");
      field += rest_.substr(0, quote);
      line_ += std::count(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(quote), '\n');
      rest_.remove_prefix(quote + 1);
      if (!take('"')) break;
      field += '"';
    }
    skip_blanks();
    return field;
  }

  std::string_view rest_;
  std::int64_t line_ = 1;
};

std::string shown(std::string_view field) { return fmt::format("\"{}\"", clean_text(field, 40)); }

std::optional<double> number_of(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || text.empty()) return std::nullopt;
  // A number too small for a double is 0, one too large is refused as too large.
  if (error == std::errc::result_out_of_range) return text.find("e-") != std::string_view::npos ? 0 : HUGE_VAL;
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

std::string counted_columns(std::size_t count) { return fmt::format("{} column{}", count, count == 1 ? "" : "s"); }

Result<double> value_in(const Row& row, std::size_t column) {
  if (column >= row.fields.size())
    return bad_line(
        row.line, fmt::format("has {}, and the value is in column {}", counted_columns(row.fields.size()), column + 1));
  const std::string& field = row.fields[column];
  if (field.empty()) return bad_line(row.line, "the value is empty");
  const std::optional<double> value = number_of(field);
  if (!value) return bad_line(row.line, fmt::format("{} is not a number", shown(field)));
  if (std::isnan(*value)) return bad_line(row.line, fmt::format("{} is no value to compare", shown(field)));
  if (std::abs(*value) > series_value_max)
    return bad_line(row.line, fmt::format("{} is beyond {:g}", shown(field), series_value_max));
  return *value;
}

/// Spreadsheets write headers in any case.
bool is_value_column(std::string_view name) {
  return std::equal(name.begin(), name.end(), value_column.begin(), value_column.end(),
                    [](char a, char b) { return lower(a) == b; });
}

/// The column of the values, told by the first row, which is a header or the first value.
struct Layout {
  std::size_t column = 0;
  bool has_header = false;
};

Result<Layout> layout_of(const Row& first) {
  const auto named = std::find_if(first.fields.begin(), first.fields.end(), &is_value_column);
  if (named != first.fields.end()) return Layout{static_cast<std::size_t>(named - first.fields.begin()), true};
  if (first.fields.size() > 1)
    return bad_line(first.line,
                    fmt::format("{} columns, and none is called \"{}\"", first.fields.size(), value_column));
  if (!number_of(first.fields.front()))
    return bad_line(first.line, fmt::format("{} is neither a number nor a header with a column \"{}\"",
                                            shown(first.fields.front()), value_column));
  return Layout{};
}

Result<std::string> bytes_of(std::istream& in) {
  std::string text(series_bytes_max + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (in.bad()) return fail(ErrorCode::io_failed, "cannot be read");
  if (text.size() > series_bytes_max)
    return fail(ErrorCode::bad_body, fmt::format("is larger than {} MiB", series_bytes_max >> 20U));
  return text;
}

Result<std::string> text_of(const std::string& file) {
  if (file == "-") return bytes_of(std::cin);
  std::ifstream in(file, std::ios::binary);
  if (!in) return fail(ErrorCode::io_failed, "cannot be opened");
  return bytes_of(in);
}

}  // namespace

Result<Series> parse_series(std::string_view text) {
  Rows rows(text);
  Series series;
  std::optional<Layout> layout;
  for (;;) {
    TRACEWEIR_TRY(row, rows.next());
    if (!row) break;
    if (!layout) {
      TRACEWEIR_TRY(told, layout_of(*row));
      layout = told;
      if (layout->has_header) continue;
    }
    if (series.values.size() == series_values_max)
      return bad_line(row->line, fmt::format("more than {} values", series_values_max));
    TRACEWEIR_TRY(value, value_in(*row, layout->column));
    series.values.push_back(value);
    series.lines.push_back(row->line);
  }
  if (series.values.empty()) return fail(ErrorCode::bad_body, "has no values");
  return series;
}

Result<Series> read_series(const std::string& file) {
  const std::string name = file == "-" ? "stdin" : clean_text(file);
  const auto named = [&name](const Error& error) {
    return fail(error.code, fmt::format("{}: {}", name, error.message));
  };
  const auto text = text_of(file);
  if (!text) return named(text.error());
  auto series = parse_series(*text);
  if (!series) return named(series.error());
  return series;
}

}  // namespace traceweir::cli
