// Rows as text and back: what a backup holds.
#include "server/store/row_text.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "server/store/tables.hpp"

using namespace traceweir;
using namespace traceweir::store;

namespace {

const TableShape table{"t", {{"a", ColumnKind::integer}, {"b", ColumnKind::real}, {"c", ColumnKind::text}}, {"a"}, {}};

std::string text_of(const Row& row) {
  std::string text;
  append_row(text, row);
  return text;
}

Row read(const std::string& line) {
  const auto row = row_of(table, std::string_view(line).substr(0, line.size() - 1));
  REQUIRE_MESSAGE(row.has_value(), row.error().message);
  return *row;
}

}  // namespace

TEST_CASE("row text: every value comes back as it was") {
  using Limits = std::numeric_limits<std::int64_t>;
  const std::string all_bytes = [] {
    std::string text;
    for (int byte = 0; byte < 256; ++byte) text += static_cast<char>(byte);
    return text;
  }();
  const Row rows[] = {{Limits::min(), 5e-324, std::string()},
                      {Limits::max(), -0.0, all_bytes},
                      {std::int64_t{0}, 0.1 + 0.2, std::string("\\N")},
                      {std::monostate{}, std::monostate{}, std::monostate{}},
                      {std::int64_t{-1}, -std::numeric_limits<double>::infinity(), std::string("\t\n\r\\")}};
  for (const Row& row : rows) {
    const std::string text = text_of(row);
    CAPTURE(text);
    CHECK(std::count(text.begin(), text.end(), '\n') == 1);
    CHECK(read(text) == row);
    CHECK(text_of(read(text)) == text);
  }
}

TEST_CASE("row text: what is written") {
  CHECK(text_of({std::int64_t{7}, 1e21, std::string("a\tb\\")}) == "7\t1e+21\ta\\tb\\\\\n");
  CHECK(text_of({std::monostate{}, 0.5, std::string("N")}) == "\\N\t0.5\tN\n");
}

TEST_CASE("row text: what is no row is refused, with the column") {
  struct Case {
    const char *line, *named;
  };
  const Case cases[] = {{"1\t2", "columns"},      {"1\t2\tx\ty", "columns"}, {"", "columns"},
                        {"x\t2\tx", "a is no"},   {"1 \t2\tx", "a is no"},   {"9223372036854775808\t2\tx", "a is no"},
                        {"1\t2,5\tx", "b is no"}, {"1\t\tx", "b is no"},     {"1\t2\t\\q", "c is no"},
                        {"1\t2\tx\\", "c is no"}};
  for (const auto& [line, named] : cases) {
    CAPTURE(line);
    const auto row = row_of(table, line);
    REQUIRE_FALSE(row.has_value());
    CHECK(row.error().code == ErrorCode::bad_body);
    CHECK(row.error().message.find(named) != std::string::npos);
  }
}

TEST_CASE("tables: each comes after those that it refers to") {
  const auto named = [](const char* name) { return TableShape{name, {}, {}, {}}; };
  const auto ordered =
      in_order_of_reference({named("a"), named("b"), named("c"), named("d")},
                            {{"a", {"c"}}, {"c", {"d", "c"}}, {"b", {"a"}}});  // a table may refer to itself
  REQUIRE(ordered.has_value());
  std::string names;
  for (const TableShape& each : *ordered) names += each.name;
  CHECK(names == "dcab");
  CHECK_FALSE(in_order_of_reference({named("a"), named("b")}, {{"a", {"b"}}, {"b", {"a"}}}).has_value());
}
