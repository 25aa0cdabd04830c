#include "analyzer/ingest/kineto_number.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace traceweir::ingest {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Takes the digits off the front of `text`.
std::string_view take_digits(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && is_digit(text[length])) ++length;
  const std::string_view digits = text.substr(0, length);
  text.remove_prefix(length);
  return digits;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

/// An exponent, cut to what decides whether a number overflows or vanishes, however many digits its mantissa has.
std::optional<std::int64_t> take_exponent(std::string_view& text) {
  const bool negative = take(text, '-');
  if (!negative) take(text, '+');
  const std::string_view digits = take_digits(text);
  if (digits.empty()) return std::nullopt;
  constexpr std::int64_t exponent_max = std::int64_t{1} << 40;
  std::int64_t value = 0;
  for (const char c : digits) value = std::min(exponent_max, value * 10 + (c - '0'));
  return negative ? -value : value;
}

struct Decimal {
  bool negative;
  std::string_view whole;
  std::string_view fraction;
  std::int64_t exponent;
};

std::optional<Decimal> decimal_of(std::string_view text) {
  Decimal out{};
  out.negative = take(text, '-');
  out.whole = take_digits(text);
  if (out.whole.empty()) return std::nullopt;
  if (take(text, '.')) {
    out.fraction = take_digits(text);
    if (out.fraction.empty()) return std::nullopt;
  }
  if (take(text, 'e') || take(text, 'E')) {
    const auto exponent = take_exponent(text);
    if (!exponent) return std::nullopt;
    out.exponent = *exponent;
  }
  if (!text.empty()) return std::nullopt;
  return out;
}

/// Nearly all numbers: no sign, no exponent, at most 19 digits after the shift and none that it cuts off (microseconds
/// since 1970 with a fraction have 19). Nothing: any other, which takes the long way.
std::optional<ExactNumber> plain_number(std::string_view text, int shift) {
  constexpr int digits_max = 19;
  if (text.empty() || text.size() > digits_max + 1 || !is_digit(text.back())) return std::nullopt;
  std::uint64_t value = 0;
  std::size_t point = text.size();
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_digit(c))
      value = value * 10 + static_cast<std::uint64_t>(c - '0');
    else if (c == '.' && point == text.size() && i > 0)
      point = i;
    else
      return std::nullopt;
  }
  const int whole = static_cast<int>(point);
  const int behind = std::max(0, static_cast<int>(text.size()) - whole - 1);
  if (behind > shift || whole + shift > digits_max) return std::nullopt;
  for (int i = behind; i < shift; ++i) value *= 10;
  if (value > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) return std::nullopt;
  return ExactNumber{static_cast<std::int64_t>(value), false};
}

}  // namespace

std::optional<ExactNumber> exact_number(std::string_view text, int shift) {
  if (const auto number = plain_number(text, shift)) return number;
  const auto decimal = decimal_of(text);
  if (!decimal) return std::nullopt;
  const auto whole_digits = static_cast<std::int64_t>(decimal->whole.size());
  const auto digits = whole_digits + static_cast<std::int64_t>(decimal->fraction.size());
  const std::int64_t kept = whole_digits + decimal->exponent + shift;  // digits before the point, after the shift
  const auto digit = [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    return (i < whole_digits ? decimal->whole[at] : decimal->fraction[at - decimal->whole.size()]) - '0';
  };

  std::int64_t value = 0;
  for (std::int64_t i = 0; i < std::min(kept, digits); ++i) {
    const int d = digit(i);
    if (__builtin_mul_overflow(value, 10, &value)) return std::nullopt;
    if (__builtin_add_overflow(value, decimal->negative ? -d : d, &value)) return std::nullopt;
  }
  for (std::int64_t i = digits; i < kept && value != 0; ++i)
    if (__builtin_mul_overflow(value, 10, &value)) return std::nullopt;
  bool cut = false;
  for (std::int64_t i = std::max<std::int64_t>(kept, 0); i < digits && !cut; ++i) cut = digit(i) != 0;
  return ExactNumber{value, cut};
}

std::optional<Nanos> nanos_of_microseconds(std::string_view text) {
  constexpr int micros_to_nanos = 3;
  const auto number = exact_number(text, micros_to_nanos);
  if (!number) return std::nullopt;
  return Nanos{number->value};
}

std::optional<std::int64_t> integer_of(std::string_view text) {
  const auto number = exact_number(text, 0);
  if (!number || number->cut) return std::nullopt;
  return number->value;
}

}  // namespace traceweir::ingest
