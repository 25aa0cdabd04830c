#include "cli/series_file.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace traceweir;
using namespace traceweir::cli;

TEST_CASE("series: what is one") {
  struct Row {
    const char* name;
    const char* text;
    std::vector<double> values;
    std::vector<std::int64_t> lines;
  };
  const Row rows[] = {
      {"a number per line", "1\n2.5\n-3e2\n", {1, 2.5, -300}, {1, 2, 3}},
      {"no line end at the end", "1\n2", {1, 2}, {1, 2}},
      {"line ends of Windows, blanks, plus", " 1 \r\n\t+2\r\n", {1, 2}, {1, 2}},
      {"a mark of the byte order",
       "\xEF\xBB\xBF"
       "1\n",
       {1},
       {1}},
      {"empty lines and remarks", "# times\n\n1\n   \n  # more\n2\n\n", {1, 2}, {3, 6}},
      {"the column of that name", "commit,value,outcome\na,1,pass\nb,2,fail\n", {1, 2}, {2, 3}},
      {"of that name in another case", "Commit,Value\na,1\nb,2\n", {1, 2}, {2, 3}},
      {"in capitals", "VALUE\n1\n", {1}, {2}},
      {"only that column", "value\n1\n", {1}, {2}},
      {"quotes", "\"commit\", \"value\" ,x\n\"a,\"\"b\"\"\", \"1\" ,\n", {1}, {2}},
      {"a line end inside quotes", "subject,value\n\"one\ntwo\",1\nthree,2\n", {1, 2}, {2, 4}},
      {"more columns than the header", "value\n1,2,3\n", {1}, {2}},
      {"too small for a number", "1e-999\n", {0}, {1}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const auto series = parse_series(row.text);
    REQUIRE_MESSAGE(series.has_value(), (series ? std::string() : series.error().message));
    CHECK(series->values == row.values);
    CHECK(series->lines == row.lines);
  }
}

TEST_CASE("series: what is refused, and where") {
  struct Row {
    const char* name;
    std::string text;
    const char* message;
  };
  const Row rows[] = {
      {"nothing", "", "has no values"},
      {"a header alone", "value\n", "has no values"},
      {"remarks alone", "# 1\n", "has no values"},
      {"not a number", "1\ntwo\n", "line 2: \"two\" is not a number"},
      {"a number and more", "1\n2 ms\n", "line 2: \"2 ms\" is not a number"},
      {"hexadecimal", "1\n0x10\n", "line 2: \"0x10\" is not a number"},
      {"not a value", "1\n\nNaN\n", "line 3: \"NaN\" is no value to compare"},
      {"infinite", "1\n-inf\n", "line 2: \"-inf\" is beyond 1e+150"},
      {"too large", "1e151\n", "line 1: \"1e151\" is beyond 1e+150"},
      {"too large for a number", "1e999\n", "line 1: \"1e999\" is beyond 1e+150"},
      {"another header", "time\n1\n", "line 1: \"time\" is neither a number nor a header with a column \"value\""},
      {"columns without a name", "1,2\n", "line 1: 2 columns, and none is called \"value\""},
      {"a row that is too short", "a,value\n1\n", "line 2: has 1 column, and the value is in column 2"},
      {"an empty value", "a,value\nx,\n", "line 2: the value is empty"},
      {"an open quote", "a,value\n\"x,1\n2\n", "line 2: a quote is opened here and never closed"},
      {"text behind a quote", "value\n\"1\"2\n", "line 2: text behind a quoted field"},
      {"control characters stay in", "1\n\x1b[31m\n", "line 2: \"\\x1b[31m\" is not a number"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const auto series = parse_series(row.text);
    REQUIRE(!series.has_value());
    CHECK(series.error().message == row.message);
    CHECK(series.error().code == ErrorCode::bad_body);
  }
  std::string many;
  for (std::size_t i = 0; i <= series_values_max; ++i) many += "1\n";
  CHECK(parse_series(many).error().message == "line 100001: more than 100000 values");
}
