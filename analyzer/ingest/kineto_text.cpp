#include "analyzer/ingest/kineto_text.hpp"

#include <array>
#include <cstdint>
#include <optional>

#include "analyzer/core/ascii.hpp"
#include "analyzer/core/text.hpp"

namespace traceweir::ingest {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

struct Escape {
  char letter;
  char meaning;
};
constexpr Escape escapes[] = {{'"', '"'},  {'\\', '\\'}, {'/', '/'},  {'b', '\b'},
                              {'f', '\f'}, {'n', '\n'},  {'r', '\r'}, {'t', '\t'}};

std::optional<char> escape_of(char letter) {
  for (const Escape& row : escapes)
    if (row.letter == letter) return row.meaning;
  return std::nullopt;
}

/// The four hex digits at the front of `text`.
std::optional<char32_t> hex4(std::string_view text) {
  if (text.size() < 4) return std::nullopt;
  char32_t value = 0;
  for (const char c : text.substr(0, 4)) {
    const bool digit = is_digit(c);
    const char folded = static_cast<char>(c | 0x20);
    if (!digit && (folded < 'a' || folded > 'f')) return std::nullopt;
    value = value * 16 + static_cast<char32_t>(digit ? c - '0' : folded - 'a' + 10);
  }
  return value;
}

void append_utf8(std::string& out, char32_t c) {
  const auto tail = [&](unsigned shift) { out += static_cast<char>(0x80U | ((c >> shift) & 0x3FU)); };
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0U | (c >> 6U)), tail(0);
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0U | (c >> 12U)), tail(6), tail(0);
  } else {
    out += static_cast<char>(0xF0U | (c >> 18U)), tail(12), tail(6), tail(0);
  }
}

bool is_high_surrogate(char32_t c) { return c >= 0xD800 && c < 0xDC00; }
bool is_low_surrogate(char32_t c) { return c >= 0xDC00 && c < 0xE000; }

/// One `\uXXXX` (or a pair of them) at the front of `text`, after the `u`. Shape: removes what it read.
std::optional<char32_t> take_unicode(std::string_view& text) {
  const auto first = hex4(text);
  if (!first) return std::nullopt;
  text.remove_prefix(4);
  if (is_low_surrogate(*first)) return std::nullopt;
  if (!is_high_surrogate(*first)) return first;
  const auto second = text.starts_with("\\u") ? hex4(text.substr(2)) : std::nullopt;
  if (!second || !is_low_surrogate(*second)) return std::nullopt;
  text.remove_prefix(6);
  return 0x10000 + ((*first - 0xD800) << 10U) + (*second - 0xDC00);
}

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Bytes of the UTF-8 sequence at the front of `text`; 0: there is none.
std::size_t utf8_length(std::string_view text) {
  for (std::size_t length = 1; length <= 4 && length <= text.size(); ++length)
    if (is_utf8(text.substr(0, length))) return length;
  return 0;
}

/// Copies one character of a string to `out`, made valid. Shape: removes what it read from `rest`.
void repair_in_string(std::string_view& rest, std::string& out) {
  const char c = rest.front();
  if (c == '\\' && rest.size() > 1) {
    const char letter = rest[1];
    const bool valid = escape_of(letter).has_value() || (letter == 'u' && hex4(rest.substr(2)));
    if (!valid) {
      rest.remove_prefix(1);
      return;
    }
    out += rest.substr(0, 2);
    rest.remove_prefix(2);
    return;
  }
  if (static_cast<unsigned char>(c) < 0x20) {
    out += ' ';
    rest.remove_prefix(1);
    return;
  }
  const std::size_t length = utf8_length(rest);
  out += length == 0 ? replacement : rest.substr(0, length);
  rest.remove_prefix(length == 0 ? 1 : length);
}

/// Copies one token outside strings to `out`. A word that JSON does not know, with its sign, becomes null.
void repair_outside(std::string_view& rest, std::string& out) {
  const std::size_t sign = rest.front() == '-' || rest.front() == '+' ? 1 : 0;
  std::size_t length = sign;
  while (length < rest.size() && is_word(rest[length])) ++length;
  const std::string_view word = rest.substr(sign, length - sign);
  const bool known = sign == 0 && (word == "true" || word == "false" || word == "null");
  const bool exponent = !out.empty() && is_digit(out.back());
  if (word.empty() || known || exponent) {
    const std::size_t copied = word.empty() ? 1 : length;
    out += rest.substr(0, copied);
    rest.remove_prefix(copied);
    return;
  }
  out += "null";
  rest.remove_prefix(length);
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(json_blanks);
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

/// Whether a key with its colon stands at the front of `text`.
bool begins_with_key(std::string_view text) {
  if (!text.starts_with('"')) return false;
  const std::size_t end = text.find('"', 1);
  return end != std::string_view::npos && without_blanks(text.substr(end + 1)).starts_with(':');
}

/// Whether the quote before `rest` ends the value of a key: what follows is the next key, or the end of the object.
bool ends_value(std::string_view rest) {
  rest = without_blanks(rest);
  if (rest.empty() || rest.starts_with('}')) return true;
  if (!rest.starts_with(',')) return false;
  rest = without_blanks(rest.substr(1));
  return rest.starts_with('}') || begins_with_key(rest);
}

/// Whether a string that begins behind `before` is the value of "name".
bool is_name_value(std::string_view before) {
  constexpr std::string_view key = "\"name\"";
  const std::size_t colon = before.find_last_not_of(json_blanks);
  if (colon == std::string_view::npos || before[colon] != ':') return false;
  const std::size_t end = before.substr(0, colon).find_last_not_of(json_blanks);
  return end != std::string_view::npos && before.substr(0, end + 1).ends_with(key);
}

}  // namespace

StringText string_text(std::string_view token, std::string& scratch) {
  if (token.starts_with('"')) token.remove_prefix(1);
  if (token.ends_with('"')) token.remove_suffix(1);
  std::size_t escape = token.find('\\');
  if (escape == std::string_view::npos) return {token, true};
  bool valid = true;
  scratch.clear();
  while (escape != std::string_view::npos) {
    scratch += token.substr(0, escape);
    token.remove_prefix(escape + 1);
    const char letter = token.empty() ? '\0' : token.front();
    if (!token.empty()) token.remove_prefix(1);
    std::optional<char32_t> unicode;
    if (letter == 'u') unicode = take_unicode(token);
    if (const auto plain = escape_of(letter); plain)
      scratch += *plain;
    else if (unicode)
      append_utf8(scratch, *unicode);
    else
      scratch += replacement, valid = false;
    escape = token.find('\\');
  }
  scratch += token;
  return {scratch, valid};
}

std::string repaired(std::string_view json) {
  std::string out;
  out.reserve(json.size() + 16);
  bool in_string = false;
  bool in_name = false;  // old writers did not escape quotes in names of kernels and operators
  while (!json.empty()) {
    if (json.front() == '"' && in_name && !ends_value(json.substr(1))) {
      out += "\\\"";
      json.remove_prefix(1);
    } else if (json.front() == '"') {
      in_name = !in_string && is_name_value(out);
      in_string = !in_string;
      out += '"';
      json.remove_prefix(1);
    } else if (in_string) {
      repair_in_string(json, out);
    } else {
      repair_outside(json, out);
    }
  }
  return out;
}

}  // namespace traceweir::ingest
