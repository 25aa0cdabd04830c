#include "server/app/config_values.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>

namespace traceweir::app {
namespace {

struct UnitRow {
  std::string_view name;
  std::uint64_t factor;
};
constexpr UnitRow byte_units[] = {
    {"GiB", std::uint64_t{1} << 30}, {"MiB", std::uint64_t{1} << 20}, {"KiB", 1024}, {"B", 1}};
constexpr UnitRow time_units[] = {{"d", 86'400'000}, {"h", 3'600'000}, {"min", 60'000}, {"s", 1000}, {"ms", 1}};

struct Quantity {
  std::uint64_t number;
  std::string_view unit;
};

Result<Quantity> split(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return fail(ErrorCode::bad_config, "a whole number was expected");
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  return Quantity{number, unit};
}

template <std::size_t n>
Result<std::uint64_t> scaled(std::string_view text, const UnitRow (&units)[n], std::uint64_t without_unit,
                             std::string_view example) {
  TRACEWEIR_TRY(quantity, split(text));
  std::uint64_t factor = quantity.unit.empty() ? without_unit : 0;
  for (const UnitRow& row : units)
    if (row.name == quantity.unit) factor = row.factor;
  if (factor == 0) return fail(ErrorCode::bad_config, fmt::format("a value such as '{}' was expected", example));
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (quantity.number > most / factor) return fail(ErrorCode::bad_config, "too large");
  return quantity.number * factor;
}

template <std::size_t n>
std::string show(std::uint64_t value, const UnitRow (&units)[n]) {
  for (const UnitRow& row : units)
    if (value % row.factor == 0 && (value != 0 || row.factor == 1))
      return fmt::format("{} {}", value / row.factor, row.name);
  return fmt::format("{}", value);
}

}  // namespace

Result<std::uint64_t> parse_count(std::string_view text, std::uint64_t least, std::uint64_t most) {
  TRACEWEIR_TRY(quantity, split(text));
  if (!quantity.unit.empty() || quantity.number < least || quantity.number > most)
    return fail(ErrorCode::bad_config, fmt::format("a whole number from {} to {} was expected", least, most));
  return quantity.number;
}

Result<std::uint64_t> parse_bytes(std::string_view text) { return scaled(text, byte_units, 1, "4 GiB"); }

Result<std::chrono::milliseconds> parse_time(std::string_view text) {
  TRACEWEIR_TRY(millis, scaled(text, time_units, 1000, "120 s"));
  return std::chrono::milliseconds{static_cast<std::int64_t>(millis)};
}

std::string show_bytes(std::uint64_t bytes) { return show(bytes, byte_units); }

std::string show_time(std::chrono::milliseconds time) {
  return show(static_cast<std::uint64_t>(time.count()), time_units);
}

}  // namespace traceweir::app
