#include "server/wire/timestamp.hpp"

#include <fmt/format.h>

#include <charconv>

namespace traceweir::wire {
namespace {

// Of the years that four digits can say. An offset can lead out of them.
constexpr Timestamp first_time = std::chrono::sys_days{std::chrono::year{0} / 1 / 1};
constexpr Timestamp last_time = std::chrono::sys_days{std::chrono::year{10'000} / 1 / 1} - std::chrono::microseconds{1};

/// Reads exactly `digits` digits from the front of `text` and takes them off.
std::optional<int> take_number(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return std::nullopt;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, value);
  if (error != std::errc{} || end != text.data() + digits || text.front() == '-') return std::nullopt;
  text.remove_prefix(digits);
  return value;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<std::chrono::sys_days> take_date(std::string_view& text) {
  const auto year = take_number(text, 4);
  if (!year || !take(text, '-')) return std::nullopt;
  const auto month = take_number(text, 2);
  if (!month || !take(text, '-')) return std::nullopt;
  const auto day = take_number(text, 2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{*year}, std::chrono::month{static_cast<unsigned>(*month)},
                                         std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days{date};
}

std::optional<std::chrono::seconds> take_clock(std::string_view& text) {
  const auto hour = take_number(text, 2);
  if (!hour || !take(text, ':')) return std::nullopt;
  const auto minute = take_number(text, 2);
  if (!minute || !take(text, ':')) return std::nullopt;
  const auto second = take_number(text, 2);
  if (!second || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  return std::chrono::hours{*hour} + std::chrono::minutes{*minute} + std::chrono::seconds{*second};
}

/// A fraction of any length, cut to µs.
std::optional<std::chrono::microseconds> take_fraction(std::string_view& text) {
  if (!take(text, '.')) return std::chrono::microseconds{0};
  std::int64_t micros = 0;
  std::size_t digits = 0;
  for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits)
    if (digits < 6) micros = micros * 10 + (text[digits] - '0');
  if (digits == 0) return std::nullopt;
  for (std::size_t i = digits; i < 6; ++i) micros *= 10;
  text.remove_prefix(digits);
  return std::chrono::microseconds{micros};
}

std::optional<std::chrono::minutes> take_offset(std::string_view& text) {
  if (take(text, 'Z') || take(text, 'z')) return std::chrono::minutes{0};
  const bool east = take(text, '+');
  if (!east && !take(text, '-')) return std::nullopt;
  const auto hours = take_number(text, 2);
  if (!hours || !take(text, ':')) return std::nullopt;
  const auto minutes = take_number(text, 2);
  if (!minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  const std::chrono::minutes offset = std::chrono::hours{*hours} + std::chrono::minutes{*minutes};
  return east ? offset : -offset;
}

/// A history has twenty thousand times: they are written by hand.
void put(std::string& out, char before, unsigned value, std::size_t digits) {
  out += before;
  out.append(digits, '0');
  for (std::size_t i = out.size(); value > 0; value /= 10) out[--i] = static_cast<char>('0' + value % 10);
}

void put_year(std::string& out, int year) {
  constexpr int last_of_four_digits = 9999;
  if (year < 0 || year > last_of_four_digits) {
    out += fmt::format("{:04}", year);
    return;
  }
  put(out, '-', static_cast<unsigned>(year), 4);
  out.erase(out.size() - 5, 1);
}

}  // namespace

std::string to_rfc3339(Timestamp time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  std::string out;
  out.reserve(sizeof "2024-07-01T17:11:24.000000Z");
  put_year(out, static_cast<int>(date.year()));
  put(out, '-', static_cast<unsigned>(date.month()), 2);
  put(out, '-', static_cast<unsigned>(date.day()), 2);
  put(out, 'T', static_cast<unsigned>(clock.hours().count()), 2);
  put(out, ':', static_cast<unsigned>(clock.minutes().count()), 2);
  put(out, ':', static_cast<unsigned>(clock.seconds().count()), 2);
  if (clock.subseconds().count() != 0) put(out, '.', static_cast<unsigned>(clock.subseconds().count()), 6);
  return out += 'Z';
}

std::optional<Timestamp> from_rfc3339(std::string_view text) {
  const auto date = take_date(text);
  if (!date) return std::nullopt;
  if (text.empty()) return Timestamp{*date};
  if (!take(text, 'T') && !take(text, 't') && !take(text, ' ')) return std::nullopt;
  const auto clock = take_clock(text);
  if (!clock) return std::nullopt;
  const auto fraction = take_fraction(text);
  if (!fraction) return std::nullopt;
  const auto offset = take_offset(text);
  if (!offset || !text.empty()) return std::nullopt;
  const Timestamp time = Timestamp{*date} + *clock + *fraction - *offset;
  return time < first_time || time > last_time ? std::nullopt : std::optional(time);
}

}  // namespace traceweir::wire
