#include "analyzer/core/uuid.hpp"

#include <algorithm>

namespace traceweir {
namespace {

constexpr std::string_view digits = "0123456789abcdef";
constexpr std::size_t text_bytes = 36;

constexpr bool is_dash_place(std::size_t i) { return i == 8 || i == 13 || i == 18 || i == 23; }

}  // namespace

std::string uuid_v7(std::chrono::milliseconds unix_time, const std::array<std::uint8_t, 10>& random) {
  const auto time = static_cast<std::uint64_t>(std::max<std::int64_t>(unix_time.count(), 0));
  std::array<std::uint8_t, 16> bytes{};
  for (std::size_t i = 0; i < 6; ++i) bytes[i] = static_cast<std::uint8_t>(time >> (8 * (5 - i)));
  std::copy(random.begin(), random.end(), bytes.begin() + 6);
  bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0f) | 0x70);  // version 7
  bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3f) | 0x80);  // variant of RFC 9562

  std::string text;
  text.reserve(text_bytes);
  for (const std::uint8_t byte : bytes) {
    if (is_dash_place(text.size())) text += '-';
    text += digits[byte >> 4];
    text += digits[byte & 0x0f];
  }
  return text;
}

std::optional<std::chrono::milliseconds> time_of_uuid_v7(std::string_view text) {
  if (!is_uuid(text) || text[14] != '7') return std::nullopt;
  std::int64_t time = 0;
  for (const char c : text.substr(0, 13))
    if (c != '-') time = time * 16 + static_cast<std::int64_t>(digits.find(c));
  return std::chrono::milliseconds(time);
}

bool is_uuid(std::string_view text) {
  if (text.size() != text_bytes) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_dash_place(i) ? text[i] != '-' : digits.find(text[i]) == std::string_view::npos) return false;
  }
  return true;
}

}  // namespace traceweir
