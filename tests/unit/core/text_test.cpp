#include "analyzer/core/text.hpp"

#include <doctest/doctest.h>

#include <string>

using traceweir::clean_text;
using traceweir::is_utf8;

// Why: a kernel name comes from a stranger's file and ends in a terminal, a log line and a web page.
TEST_CASE("clean_text: what leaves the process is valid, inert and short") {
  struct Row {
    const char* name;
    std::string text;
    std::string want;
  };
  const Row rows[] = {
      {"plain text stays", "ampere_sgemm_128x64_tn", "ampere_sgemm_128x64_tn"},
      {"valid UTF-8 stays", "größe→", "größe→"},
      {"a terminal escape is spelt out", "a\x1b[31mb", "a\\x1b[31mb"},
      {"a newline is spelt out", "a\n::error::b", "a\\x0a::error::b"},
      {"DEL and C1 are spelt out", "\x7f\xc2\x9b", "\\x7f\\x9b"},
      {"a bidi override is spelt out",
       "a\xe2\x80\xae"
       "b",
       "a\\u{202e}b"},
      {"a lone continuation byte is replaced",
       "a\x80"
       "b",
       "a\xEF\xBF\xBD"
       "b"},
      {"a surrogate is replaced byte by byte", "\xed\xa0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
      {"an overlong slash is replaced", "\xc0\xaf", "\xEF\xBF\xBD\xEF\xBF\xBD"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(clean_text(row.text) == row.want);
    CHECK(is_utf8(clean_text(row.text)));
  }
}

TEST_CASE("clean_text: long names that share a beginning stay apart") {
  const std::string a(600, 'a');
  const std::string cut_a = clean_text(a);
  const std::string cut_b = clean_text(a + "b");
  CHECK(cut_a.size() <= traceweir::name_bytes_max);
  CHECK(cut_b.size() <= traceweir::name_bytes_max);
  CHECK(cut_a != cut_b);
}

TEST_CASE("clean_text: a cut never splits a character") {
  std::string text;
  for (int i = 0; i < 400; ++i) text += "é";
  for (std::size_t bytes = 14; bytes < 30; ++bytes) CHECK(is_utf8(clean_text(text, bytes)));
}
