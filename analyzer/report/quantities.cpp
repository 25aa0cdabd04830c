#include "analyzer/report/quantities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace traceweir::report {
namespace {

struct Scale {
  double at_least;
  double divisor;
  const char* name;
};

constexpr Scale time_scales[] = {{1e9, 1e9, "s"}, {1e6, 1e6, "ms"}, {1e3, 1e3, "µs"}, {0, 1, "ns"}};
constexpr Scale byte_scales[] = {
    {1073741824.0, 1073741824.0, "GiB"}, {1048576.0, 1048576.0, "MiB"}, {1024.0, 1024.0, "KiB"}, {0, 1, "B"}};

/// Whole numbers as they are, others with about three digits.
std::string digits(double value) {
  if (std::floor(value) == value && std::abs(value) < 1e15) return fmt::format("{:.0f}", value);
  return std::abs(value) < 10 ? fmt::format("{:.2f}", value) : fmt::format("{:.1f}", value);
}

template <std::size_t n>
std::string scaled(double value, const Scale (&scales)[n]) {
  const Scale* scale = std::find_if(std::begin(scales), std::end(scales) - 1,
                                    [&](const Scale& s) { return std::abs(value) >= s.at_least; });
  const double shown = value / scale->divisor;
  const bool smallest = scale == std::end(scales) - 1;
  return fmt::format("{} {}", smallest ? digits(shown) : fmt::format("{:.{}f}", shown, std::abs(shown) < 10 ? 2 : 1),
                     scale->name);
}

std::string percent(double ratio) {
  const double value = ratio * 100;
  const bool small = value != 0 && std::abs(value) < 1;
  return fmt::format("{:.{}f} %", value, small ? 2 : 1);
}

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

/// The byte at which the character number `index` begins.
std::size_t byte_of(std::string_view text, std::size_t index) {
  std::size_t seen = 0;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (starts_character(text[i]) && seen++ == index) return i;
  return text.size();
}

}  // namespace

std::string human(double value, Unit unit) {
  if (unit == Unit::ratio) return percent(value);
  if (unit == Unit::ns) return scaled(value, time_scales);
  if (unit == Unit::bytes) return scaled(value, byte_scales);
  if (unit == Unit::count) return digits(value);
  return digits(value) + " " + std::string(word(unit));
}

std::string human(const Number& value, Unit unit) { return human(as_double(value), unit); }
std::string human(Nanos length) { return human(static_cast<double>(length.count()), Unit::ns); }

std::string bar(double ratio, std::size_t cells) {
  constexpr std::array<const char*, 8> eighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double cut = std::isfinite(ratio) ? std::clamp(ratio, 0.0, 1.0) : 0;
  const auto parts = static_cast<std::size_t>(std::lround(cut * static_cast<double>(cells) * 8));
  std::string out;
  for (std::size_t i = 0; i < parts / 8; ++i) out += "█";
  return out + eighths[parts % 8];
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), &starts_character));
}

std::string shortened(std::string_view text, std::size_t cells) {
  const std::size_t width = width_of(text);
  if (width <= cells || cells < 2) return std::string(text);
  const std::size_t front = (cells - 1) * 2 / 3;
  const std::size_t back = cells - 1 - front;
  return std::string(text.substr(0, byte_of(text, front))) + "…" +
         std::string(text.substr(byte_of(text, width - back)));
}

}  // namespace traceweir::report
