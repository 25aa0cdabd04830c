#include "server/http/target.hpp"

#include <algorithm>
#include <cstddef>

#include "analyzer/core/text.hpp"

namespace traceweir::http {
namespace {

constexpr std::string_view token_prefix = "twr_";
constexpr std::string_view token_characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
  return std::nullopt;
}

/// Part of a signed token: an object in base64url begins with `{"`, or with space in between.
constexpr std::size_t part_characters_min = 12;
bool is_object(std::string_view part) {
  return part.size() >= part_characters_min && part[0] == 'e' && (part[1] == 'y' || part[1] == 'w');
}

std::size_t end_of_part(std::string_view text, std::size_t begin) {
  return std::min(text.find_first_not_of(token_characters, begin), text.size());
}

/// The first part may have something glued to its front.
std::size_t begin_of_object(std::string_view text, std::size_t begin, std::size_t end) {
  for (; begin < end; ++begin)
    if (is_object(text.substr(begin, end - begin))) return begin;
  return end;
}

struct Span {
  std::size_t begin, end;
};

std::optional<Span> find_signed_token(std::string_view text) {
  const auto is_dot = [text](std::size_t at) { return at < text.size() && text[at] == '.'; };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t head_end = end_of_part(text, at);
    const std::size_t head = begin_of_object(text, at, head_end);
    at = head_end + 1;
    if (head == head_end || !is_dot(head_end)) continue;
    const std::size_t claims_end = end_of_part(text, head_end + 1);
    if (!is_dot(claims_end) || !is_object(text.substr(head_end + 1, claims_end - head_end - 1))) continue;
    const std::size_t end = end_of_part(text, claims_end + 1);
    if (end > claims_end + 1) return Span{head, end};
  }
  return std::nullopt;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

bool is_safe_segment(std::string_view segment) {
  const auto unsafe = [](char c) { return is_control(c) || c == '/' || c == '\\'; };
  return segment != "." && segment != ".." && is_utf8(segment) && std::none_of(segment.begin(), segment.end(), unsafe);
}

}  // namespace

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    if (text.size() - i < 3) return std::nullopt;
    const auto high = hex_digit(text[i + 1]);
    const auto low = hex_digit(text[i + 2]);
    if (!high || !low) return std::nullopt;
    decoded += static_cast<char>(static_cast<unsigned char>(*high * 16 + *low));
    i += 2;
  }
  return decoded;
}

Result<std::vector<std::string>> path_segments(std::string_view path) {
  if (path.empty() || path.front() != '/') return fail(ErrorCode::bad_request, "the request target is not a path");
  std::vector<std::string> segments;
  if (path == "/") return segments;
  for (std::size_t begin = 1; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    auto segment = percent_decoded(path.substr(begin, end - begin));
    if (!segment || !is_safe_segment(*segment))
      return fail(ErrorCode::bad_request,
                  "segment " + std::to_string(segments.size() + 1) + " of the path is not acceptable text");
    segments.push_back(*std::move(segment));
    begin = end + 1;
  }
  return segments;
}

bool holds_token(std::string_view text) {
  constexpr std::size_t id_characters = 16;
  for (std::size_t at = text.find(token_prefix); at != std::string_view::npos; at = text.find(token_prefix, at)) {
    at += token_prefix.size();
    const std::string_view id = text.substr(at, id_characters);
    const bool is_id = id.size() == id_characters &&
                       std::all_of(id.begin(), id.end(), [](char c) { return hex_digit(c).has_value(); });
    if (is_id && text.substr(at + id_characters).starts_with('_')) return true;
  }
  return find_signed_token(text).has_value();
}

std::string target_for_log(std::string_view path) {
  std::string text = percent_decoded(path).value_or(std::string(path));
  for (std::size_t at = text.find(token_prefix); at != std::string::npos; at = text.find(token_prefix, at)) {
    at += token_prefix.size();
    const std::size_t end = std::min(text.find_first_not_of(token_characters, at), text.size());
    text.replace(at, end - at, "***");
  }
  while (const auto found = find_signed_token(text)) text.replace(found->begin, found->end - found->begin, "***");
  return clean_text(text);
}

}  // namespace traceweir::http
