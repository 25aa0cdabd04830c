#include "server/store/row_text.hpp"

#include <charconv>
#include <iterator>

namespace traceweir::store {
namespace {

struct Escape {
  char byte, letter;
};
constexpr Escape escapes[] = {{'\\', '\\'}, {'\t', 't'}, {'\n', 'n'}, {'\r', 'r'}};
constexpr std::string_view null_text = "\\N";

void append_text(std::string& text, std::string_view value) {
  for (const char c : value) {
    const Escape* const escape = [&]() -> const Escape* {
      for (const Escape& row : escapes)
        if (row.byte == c) return &row;
      return nullptr;
    }();
    if (escape == nullptr) {
      text += c;
    } else {
      text += '\\';
      text += escape->letter;
    }
  }
}

template <typename Number>
void append_number(std::string& text, Number value) {
  char digits[32];
  const auto [end, error] = std::to_chars(std::begin(digits), std::end(digits), value);
  text.append(digits, end);
}

struct Appender {
  std::string& text;
  void operator()(std::monostate) const { text += null_text; }
  void operator()(std::int64_t value) const { append_number(text, value); }
  void operator()(double value) const { append_number(text, value + 0.0); }  // -0 becomes 0
  void operator()(const std::string& value) const { append_text(text, value); }
};

std::optional<std::string> read_text(std::string_view field) {
  std::string value;
  value.reserve(field.size());
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (field[i] != '\\') {
      value += field[i];
      continue;
    }
    if (++i == field.size()) return std::nullopt;
    const std::size_t before = value.size();
    for (const Escape& row : escapes)
      if (row.letter == field[i]) value += row.byte;
    if (value.size() == before) return std::nullopt;
  }
  return value;
}

template <typename Number>
std::optional<Number> read_number(std::string_view field) {
  Number value{};
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc{} || end != field.data() + field.size()) return std::nullopt;
  return value;
}

std::optional<Cell> read_cell(ColumnKind kind, std::string_view field) {
  const auto cell = [](auto value) { return value ? std::optional<Cell>(std::move(*value)) : std::nullopt; };
  if (field == null_text) return Cell(std::monostate{});
  if (kind == ColumnKind::integer) return cell(read_number<std::int64_t>(field));
  if (kind == ColumnKind::real) return cell(read_number<double>(field));
  return cell(read_text(field));
}

}  // namespace

void append_row(std::string& text, const Row& row) {
  bool first = true;
  for (const Cell& cell : row) {
    if (!first) text += '\t';
    first = false;
    std::visit(Appender{text}, cell);
  }
  text += '\n';
}

Result<Row> row_of(const TableShape& table, std::string_view line) {
  Row row;
  row.reserve(table.columns.size());
  for (const TableColumn& column : table.columns) {
    const std::size_t tab = line.find('\t');
    const bool is_last = row.size() + 1 == table.columns.size();
    if (is_last != (tab == std::string_view::npos))
      return fail(ErrorCode::bad_body, "a row of the table " + table.name + " has another number of columns than " +
                                           std::to_string(table.columns.size()));
    auto cell = read_cell(column.kind, line.substr(0, tab));
    if (!cell)
      return fail(ErrorCode::bad_body,
                  "a row of the table " + table.name + ": " + column.name + " is no " + std::string(word(column.kind)));
    row.push_back(std::move(*cell));
    line.remove_prefix(is_last ? line.size() : tab + 1);
  }
  return row;
}

}  // namespace traceweir::store
