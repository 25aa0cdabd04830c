#include "analyzer/timeline/range_names.hpp"

#include <cstdint>
#include <utility>

#include "analyzer/timeline/home_paths.hpp"

namespace traceweir::timeline {
namespace {

enum class Character : std::uint8_t { plain, digit, slash, other };

/// Of a byte, as far as it can be told without those around it.
constexpr std::array<Character, 256> characters = [] {
  std::array<Character, 256> out{};
  for (std::size_t c = 0; c < out.size(); ++c) {
    out[c] = c >= 0x20 && c < 0x7F ? Character::plain : Character::other;
    if (c >= '0' && c <= '9') out[c] = Character::digit;
  }
  out['/'] = Character::slash;
  out['\\'] = Character::other;
  return out;
}();

Character character(char c) { return characters[static_cast<unsigned char>(c)]; }

}  // namespace

RangeName RangeNames::name(std::string_view text, NameTable& forms) {
  if (split(text)) return store(forms);
  if (const auto known = unclean_.find(text); known != unclean_.end()) return known->second;
  const std::string cleaned = clean_name(text);
  // What no split takes even when it is clean is its own form.
  const RangeName name = split(cleaned) ? store(forms) : RangeName{forms.add(cleaned)};
  unclean_.emplace(text, name);
  return name;
}

std::string RangeNames::take_numbers() && {
  unclean_.clear();
  return std::exchange(numbers_, {});
}

/// false: it may not be clean, or its numbers are too many, or have no place left.
bool RangeNames::split(std::string_view text) {
  if (text.size() > name_bytes_max || numbers_.size() > RangeName::no_numbers - split_.numbers.size()) return false;
  char* form = split_.form.data();
  char* number = split_.numbers.data();
  std::size_t digits = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const Character kind = character(c);
    if (kind == Character::digit) {
      for (; at < text.size() && character(text[at]) == Character::digit; ++at) {
        if (++digits > digits_max) return false;
        *number++ = text[at];
      }
      *number++ = ',';
      *form++ = '0';
      continue;
    }
    if (kind == Character::other || (kind == Character::slash && may_hold_home(text.substr(at, 2)))) return false;
    *form++ = c;
    ++at;
  }
  split_.form_size = static_cast<std::size_t>(form - split_.form.data());
  split_.numbers_size = static_cast<std::size_t>(number - split_.numbers.data());
  return true;
}

RangeName RangeNames::store(NameTable& forms) {
  RangeName out{forms.add({split_.form.data(), split_.form_size})};
  if (split_.numbers_size == 0) return out;
  out.numbers = static_cast<std::uint32_t>(numbers_.size());
  numbers_.append(split_.numbers.data(), split_.numbers_size);
  return out;
}

}  // namespace traceweir::timeline
