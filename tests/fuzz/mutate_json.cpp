#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "tests/fuzz/mutate.hpp"

namespace traceweir::fuzz {
namespace {

/// What readers of numbers, times and names have stumbled over.
constexpr std::string_view values[] = {"0",
                                       "-0",
                                       "-1",
                                       "1e999",
                                       "-1e999",
                                       "1e-999",
                                       "0.1234567890123456789",
                                       "9223372036854775807",
                                       "9223372036854775808",
                                       "-9223372036854775808",
                                       "-9223372036854775809",
                                       "18446744073709551615",
                                       "9223372036854775.807",
                                       "1000000000000000000000000000000",
                                       "4611686018427387904",
                                       "2147483648",
                                       "4294967296",
                                       "65536",
                                       "5.0",
                                       "1E2",
                                       "NaN",
                                       "Infinity",
                                       "null",
                                       "true",
                                       "[]",
                                       "{}",
                                       "\"\"",
                                       "\"\\ud800\"",
                                       "\"\\u0000\"",
                                       "\"9223372036854775807\"",
                                       "\"1e3\"",
                                       "\"-1\"",
                                       "\"\\\\\"",
                                       "\"\xF0\x9F\x92\xA9\"",
                                       "\"\xFF\""};

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
bool is_mark(char c) { return std::string_view("{}[],:").find(c) != std::string_view::npos; }

std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return std::min(at + 1, text.size());
}

std::size_t end_of_word(std::string_view text, std::size_t at) {
  while (at < text.size() && !is_space(text[at]) && !is_mark(text[at]) && text[at] != '"') ++at;
  return at;
}

struct Token {
  std::size_t at, size;
};

std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  for (std::size_t at = 0; at < text.size();) {
    if (is_space(text[at])) {
      ++at;
      continue;
    }
    const std::size_t end = is_mark(text[at]) ? at + 1
                            : text[at] == '"' ? end_of_string(text, at)
                                              : end_of_word(text, at);
    tokens.push_back({at, end - at});
    at = end;
  }
  return tokens;
}

/// Where the value that begins at a token ends: behind its bracket, or behind itself.
std::size_t end_of_value(std::string_view text, const std::vector<Token>& tokens, std::size_t first) {
  std::size_t depth = 0;
  for (std::size_t i = first; i < tokens.size(); ++i) {
    const char c = text[tokens[i].at];
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && depth > 0) --depth;
    if (depth == 0) return tokens[i].at + tokens[i].size;
  }
  return text.size();
}

void replace_by_edge(std::string& text, const Token& token, Chance& chance) {
  text.replace(token.at, token.size, values[chance.below(std::size(values))]);
}

void replace_by_other(std::string& text, const std::vector<Token>& tokens, Chance& chance) {
  const Token to = tokens[chance.below(tokens.size())];
  const Token from = tokens[chance.below(tokens.size())];
  text.replace(to.at, to.size, text.substr(from.at, from.size));
}

void move_value(std::string& text, const std::vector<Token>& tokens, Chance& chance) {
  const std::size_t first = chance.below(tokens.size());
  const std::size_t begin = tokens[first].at;
  const std::size_t end = end_of_value(text, tokens, first);
  const std::string value = text.substr(begin, std::min<std::size_t>(end - begin, 8192));
  const Token to = tokens[chance.below(tokens.size())];
  switch (chance.below(3)) {
    case 0:
      text.erase(begin, end - begin);
      break;
    case 1:
      text.insert(to.at, value + ",");
      break;
    default:
      text.replace(to.at, to.size, value);
  }
}

}  // namespace

void change_json(std::string& text, Chance& chance) {
  const std::vector<Token> tokens = tokens_of(text);
  if (tokens.empty() || chance.below(8) == 0) return change_bytes(text, chance);
  switch (chance.below(4)) {
    case 0:
    case 1:
      // A value or a key, not a bracket.
      for (int tries = 0; tries < 8; ++tries) {
        const Token token = tokens[chance.below(tokens.size())];
        if (is_mark(text[token.at])) continue;
        return replace_by_edge(text, token, chance);
      }
      break;
    case 2:
      return replace_by_other(text, tokens, chance);
    default:
      return move_value(text, tokens, chance);
  }
}

}  // namespace traceweir::fuzz
