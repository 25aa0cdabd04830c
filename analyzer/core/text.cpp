#include "analyzer/core/text.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace traceweir {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

/// One code point read from the front of a text. length 0: the bytes there are not UTF-8.
struct CodePoint {
  char32_t value;
  std::size_t length;
};

CodePoint first_code_point(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return {0, 0};
  char32_t value = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {0, 0};
    value = (value << 6U) | (byte(i) & 0x3FU);
  }
  constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < smallest[length] || value > 0x10FFFF || surrogate) return {0, 0};
  return {value, length};
}

/// Characters that steer a terminal or turn the reading direction of what follows.
bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x61C || c == 0x200E || c == 0x200F || c == 0x2028 ||
         c == 0x2029 || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

bool is_plain_ascii(std::string_view text) {
  for (const char c : text)
    if (c < 0x20 || c == 0x7F) return false;
  return true;
}

/// FNV-1a: stable over builds and platforms, since shortened names are stored.
std::uint32_t hash_of(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

}  // namespace

std::string clean_text(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max && is_plain_ascii(text)) return std::string(text);
  const std::string mark = fmt::format("…#{:08x}", hash_of(text));
  const std::size_t room = bytes_max > mark.size() ? bytes_max - mark.size() : 0;
  std::string out;
  std::size_t cut = 0;  // where `out` may be cut so that the mark still fits
  for (std::size_t i = 0; i < text.size() && out.size() <= bytes_max;) {
    const CodePoint c = first_code_point(text.substr(i));
    if (c.length == 0)
      out += replacement;
    else if (is_control(c.value))
      out += c.value < 0x100 ? fmt::format("\\x{:02x}", static_cast<unsigned>(c.value))
                             : fmt::format("\\u{{{:04x}}}", static_cast<unsigned>(c.value));
    else
      out += text.substr(i, c.length);
    i += c.length == 0 ? 1 : c.length;
    if (out.size() <= room) cut = out.size();
  }
  if (out.size() <= bytes_max) return out;
  return out.substr(0, cut) + mark;
}

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint c = first_code_point(text.substr(i));
    if (c.length == 0) return false;
    i += c.length;
  }
  return true;
}

}  // namespace traceweir
