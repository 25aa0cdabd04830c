#include <doctest/doctest.h>

#include <string>

#include "analyzer/ingest/kineto_text.hpp"

namespace ti = traceweir::ingest;

// Why: names of kernels hold quotes and backslashes; half a surrogate pair must neither stop the reader nor pass on.
TEST_CASE("string_text: escapes, valid and not") {
  struct Row {
    const char* token;
    const char* want;
    bool valid;
  };
  const Row rows[] = {
      {R"("plain")", "plain", true},
      {R"("")", "", true},
      {R"("a\"b\\c\/d")", "a\"b\\c/d", true},
      {R"("ends with \"")", "ends with \"", true},
      {R"("\b\f\n\r\t")", "\b\f\n\r\t", true},
      {R"("\u00e9\u20AC")", "é€", true},
      {R"("\ud83d\ude00")", "😀", true},
      {R"("\ud800")", "\xEF\xBF\xBD", false},
      {R"("\ude00x")", "\xEF\xBF\xBDx", false},
      {R"("\ud800\u0041")", "\xEF\xBF\xBD\x41", false},
      {R"("C:\Users")", "C:\xEF\xBF\xBDsers", false},
      {R"("\u12")", "\xEF\xBF\xBD\x31\x32", false},
      {R"("\)", "\xEF\xBF\xBD", false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.token);
    std::string scratch;
    const ti::StringText got = ti::string_text(row.token, scratch);
    CHECK(std::string(got.text) == row.want);
    CHECK(got.valid == row.valid);
  }
}

// Why: what profilers wrote as JSON and is none must be read where it does not matter, and nothing else may change.
TEST_CASE("repaired: only what is broken changes") {
  struct Row {
    const char* json;
    const char* want;
  };
  const Row rows[] = {
      {R"({"a": 1.5e-3, "b": [true, false, null]})", R"({"a": 1.5e-3, "b": [true, false, null]})"},
      {R"({"a": NaN, "b": Infinity, "c": -Infinity})", R"({"a": null, "b": null, "c": null})"},
      {R"({"a": inf, "b": -nan})", R"({"a": null, "b": null})"},
      {R"({"a": "NaN \" Infinity"})", R"({"a": "NaN \" Infinity"})"},
      {"{\"a\": \"x\ny\tz\x01\"}", R"({"a": "x y z "})"},
      {R"({"a": "C:\Users\new"})", R"({"a": "C:Users\new"})"},
      {"{\"a\": \"\xFFoo \xC3\xA9 \xC3\"}", "{\"a\": \"\xEF\xBF\xBDoo \xC3\xA9 \xEF\xBF\xBD\"}"},
      {R"({"a": -5, "b": 1E5})", R"({"a": -5, "b": 1E5})"},
      {R"({"a": "\u12"})", R"({"a": "u12"})"},
      {"", ""},
      {"\"\\", "\"\\"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.json);
    CHECK(ti::repaired(row.json) == row.want);
  }
}
