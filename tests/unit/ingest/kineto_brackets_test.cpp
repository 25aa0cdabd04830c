#include <doctest/doctest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/ingest/kineto_brackets.hpp"

namespace ti = traceweir::ingest;

namespace {

using Found = std::vector<std::pair<std::size_t, bool>>;

/// One byte after the other: the second opinion.
Found brackets_by_hand(std::string_view text) {
  Found out;
  bool in_string = false;
  bool escaped = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool was_escaped = std::exchange(escaped, false);
    if (c == '\\' && !was_escaped) escaped = true;
    if (c == '"' && !was_escaped) in_string = !in_string;
    if (in_string || c == '"') continue;
    if (c == '{' || c == '[') out.emplace_back(i, true);
    if (c == '}' || c == ']') out.emplace_back(i, false);
  }
  return out;
}

Found brackets_in_pieces(std::string_view text, std::size_t piece) {
  Found out;
  ti::BracketScanner scanner;
  for (std::size_t at = 0; at < text.size(); at += piece)
    scanner.scan(text.substr(at, piece), [&](std::size_t i, bool opens) {
      out.emplace_back(at + i, opens);
      return true;
    });
  return out;
}

}  // namespace

// Why: events are cut at these brackets; one that is taken for text, or text taken for one, shifts all that follow.
TEST_CASE("BracketScanner: agrees with a reader of single bytes, however the text is cut") {
  std::mt19937 random(42);
  constexpr std::string_view alphabet = "{}[]\"\"\\\\ax[{";
  for (int round = 0; round < 200; ++round) {
    std::string text(1 + random() % 300, ' ');
    for (char& c : text) c = alphabet[random() % alphabet.size()];
    CAPTURE(text);
    const Found want = brackets_by_hand(text);
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{64}, std::size_t{65}, text.size()})
      CHECK(brackets_in_pieces(text, piece) == want);
  }
}

// Why: values of keys that nobody wants are passed over by their end alone.
TEST_CASE("ValueEnd: where a value ends") {
  struct Row {
    const char* text;
    std::size_t want;
  };
  constexpr std::size_t on = std::string_view::npos;
  const Row rows[] = {
      {"{} ,", 2},  {R"({"a": "}"})", 10}, {"[[1], 2], 3", 8}, {R"("a\"b", 1)", 6}, {R"("open)", on},   {"12.5, 3", 4},
      {"true}", 4}, {"null]", 4},          {"12", on},         {"{\"a\": 1", on},   {R"("\\" : 1)", 4}, {",", 0},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(ti::ValueEnd().find(row.text) == row.want);
    ti::ValueEnd in_bytes;
    std::size_t at = 0;
    const std::string_view text = row.text;
    while (at < text.size() && in_bytes.find(text.substr(at, 1)) == on) ++at;
    if (row.want == on)
      CHECK(at == text.size());
    else  // the byte that ends a scalar stands behind it; other values end with theirs
      CHECK((at == row.want || at + 1 == row.want));
  }
}

// Why: a million brackets must end the reading, not the stack.
TEST_CASE("ValueEnd: depth has a limit") {
  ti::ValueEnd end;
  CHECK(end.find(std::string(1'000'000, '[')) != std::string_view::npos);
  CHECK(end.too_deep());
}
