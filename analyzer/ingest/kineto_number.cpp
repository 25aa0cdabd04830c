#include "analyzer/ingest/kineto_number.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "analyzer/core/ascii.hpp"

namespace traceweir::ingest {
namespace {

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

/// Eight digits at `text` as a number, all at once. Nothing: there are others among them.
inline std::optional<std::uint64_t> eight_digits(const char* text) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, text, sizeof(bytes));
  if constexpr (std::endian::native == std::endian::big) bytes = __builtin_bswap64(bytes);
  constexpr std::uint64_t zeros = 0x3030'3030'3030'3030U;
  constexpr std::uint64_t upper_halves = 0xF0F0'F0F0'F0F0'F0F0U;
  constexpr std::uint64_t sixes = 0x0606'0606'0606'0606U;  // carries what is above '9' into the upper half
  if ((bytes & upper_halves) != zeros || ((bytes + sixes) & upper_halves) != zeros) return std::nullopt;
  // Neighbours together: digits, then pairs, then fours.
  bytes = (bytes & 0x0F0F'0F0F'0F0F'0F0FU) * (10U << 8U | 1U) >> 8U;
  bytes = (bytes & 0x00FF'00FF'00FF'00FFU) * (100U << 16U | 1U) >> 16U;
  return (bytes & 0x0000'FFFF'0000'FFFFU) * (std::uint64_t{10'000} << 32U | 1U) >> 32U;
}

/// Adds the digits at the front of `text` to `value`, behind what it has, and takes them off. How many there were.
inline int add_digits(std::string_view& text, std::uint64_t& value) {
  const std::size_t before = text.size();
  while (text.size() >= 8) {
    const auto eight = eight_digits(text.data());
    if (!eight) break;
    value = value * 100'000'000 + *eight;
    text.remove_prefix(8);
  }
  while (!text.empty() && is_digit(text.front())) {
    value = value * 10 + static_cast<std::uint64_t>(text.front() - '0');
    text.remove_prefix(1);
  }
  return static_cast<int>(before - text.size());
}

/// Nearly all numbers: no sign, no exponent, at most 19 digits after the shift and none that it cuts off (microseconds
/// since 1970 with a fraction have 19). false: any other, which takes the long way.
inline bool plain_number(std::string_view text, int shift, std::int64_t& out) {
  constexpr int digits_max = 19;
  if (text.size() > digits_max + 1) return false;
  std::uint64_t value = 0;
  const int whole = add_digits(text, value);
  int behind = 0;
  if (!text.empty() && take(text, '.')) {
    behind = add_digits(text, value);
    if (behind == 0) return false;
  }
  if (whole == 0 || !text.empty() || behind > shift || whole + shift > digits_max) return false;
  for (int i = behind; i < shift; ++i) value *= 10;
  out = static_cast<std::int64_t>(value);
  return out >= 0;  // else it does not fit
}

}  // namespace

std::optional<ExactNumber> exact_number(std::string_view text, int shift) {
  if (std::int64_t value = 0; plain_number(text, shift, value)) return ExactNumber{value, false};
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
  // A number and whether it was cut, copied together, would wait until both are written.
  if (std::int64_t value = 0; plain_number(text, micros_to_nanos, value)) return Nanos{value};
  const auto number = exact_number(text, micros_to_nanos);
  if (!number) return std::nullopt;
  return Nanos{number->value};
}

std::optional<std::int64_t> integer_of(std::string_view text) {
  if (std::int64_t value = 0; plain_number(text, 0, value)) return value;
  const auto number = exact_number(text, 0);
  if (!number || number->cut) return std::nullopt;
  return number->value;
}

}  // namespace traceweir::ingest
