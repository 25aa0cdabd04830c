#include "gate/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>

#include "analyzer/core/ascii.hpp"
#include "analyzer/core/text.hpp"

namespace traceweir::gate {
namespace {

/// Whether a unit is for limits (`85%`), for steps (`3pp`), or for both.
enum class Use { both, limit, step };

/// A unit as policies write it. Decimal ones move the exponent; binary ones multiply by an exact power of two.
struct UnitRow {
  Unit unit;
  std::string_view word;
  Use use;
  int exponent;
  double factor;
};

constexpr UnitRow unit_rows[] = {
    {Unit::ns, "ns", Use::both, 0, 1},
    {Unit::ns, "us", Use::both, 3, 1},
    {Unit::ns, "ms", Use::both, 6, 1},
    {Unit::ns, "s", Use::both, 9, 1},
    {Unit::ratio, "%", Use::limit, -2, 1},
    {Unit::ratio, "pp", Use::step, -2, 1},
    {Unit::bytes, "B", Use::both, 0, 1},
    {Unit::bytes, "KiB", Use::both, 0, 1024.0},
    {Unit::bytes, "MiB", Use::both, 0, 1024.0 * 1024.0},
    {Unit::bytes, "GiB", Use::both, 0, 1024.0 * 1024.0 * 1024.0},
    {Unit::gb_per_s, "GB/s", Use::both, 0, 1},
    {Unit::count, "", Use::both, 0, 1},
};

bool serves(const UnitRow& row, Unit unit, Use use) {
  return row.unit == unit && (row.use == Use::both || row.use == use);
}

/// More characters than this are no quantity that a person writes.
constexpr std::size_t quantity_bytes_max = 48;
/// Larger numbers are no measurements.
constexpr double quantity_max = 1e150;

/// `50 ms` cut into its number and its unit. `number` empty: there is none.
struct Quantity {
  std::string_view number, unit;
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::size_t count_digits(std::string_view text) {
  std::size_t n = 0;
  while (n < text.size() && is_digit(text[n])) ++n;
  return n;
}

Quantity split(std::string_view text) {
  text = trimmed(text);
  std::size_t n = count_digits(text);
  if (n == 0) return {{}, text};
  if (n + 1 < text.size() && text[n] == '.' && is_digit(text[n + 1])) n += 1 + count_digits(text.substr(n + 1));
  return {text.substr(0, n), trimmed(text.substr(n))};
}

/// The number times ten to the `exponent`, rounded once.
double scaled(std::string_view number, int exponent) {
  const std::string text = fmt::format("{}e{}", number, exponent);
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::string wanted(Unit unit, Use use) {
  if (unit == Unit::count) return "a plain number without a unit";
  std::string list;
  for (const UnitRow& row : unit_rows)
    if (serves(row, unit, use)) list += list.empty() ? std::string(row.word) : ", " + std::string(row.word);
  return "a number with a unit of " + list;
}

/// A unit's own word: `µs` is read too, with the micro sign and with the Greek letter that looks the same.
std::string_view plain_unit(std::string_view unit) { return unit == "\u00b5s" || unit == "\u03bcs" ? "us" : unit; }

std::string quoted(std::string_view text) { return fmt::format("\"{}\"", clean_text(text, 64)); }

/// Whether the number has an exponent with which it is too large: "1e400 ms". Others are wrong units, as they read.
bool is_out_of_range(const Quantity& quantity) {
  const std::string_view rest = quantity.unit;
  if (quantity.number.empty() || rest.size() < 2 || (rest[0] != 'e' && rest[0] != 'E')) return false;
  const std::size_t sign = rest[1] == '+' ? 1 : 0, digits = count_digits(rest.substr(1 + sign));
  // What stands behind a space is a unit.
  const bool adjoins = rest.data() == quantity.number.data() + quantity.number.size();
  if (digits == 0 || !adjoins) return false;
  const std::string number = fmt::format("{}e{}", quantity.number, rest.substr(1 + sign, digits));
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  return error != std::errc() || std::abs(value) > quantity_max;
}

/// Errors: bad_policy where it is.
Result<void> check_range(std::string_view text, const Quantity& quantity) {
  if (!is_out_of_range(quantity)) return {};
  return fail(ErrorCode::bad_policy,
              fmt::format("{} is out of range: a number up to {:g} is wanted", quoted(text), quantity_max));
}

Result<Amount> parse(std::string_view text, Unit unit, Use use) {
  const Quantity quantity = split(text);
  TRACEWEIR_TRY_VOID(check_range(text, quantity));
  if (quantity.number.empty() || text.size() > quantity_bytes_max)
    return fail(ErrorCode::bad_policy, fmt::format("{} is not {}", quoted(text), wanted(unit, use)));
  for (const UnitRow& row : unit_rows)
    if (serves(row, unit, use) && row.word == plain_unit(quantity.unit))
      return Amount{scaled(quantity.number, row.exponent) * row.factor, std::string(trimmed(text)), unit};
  const std::string_view what = quantity.unit.empty() ? "lacks its unit" : "has the wrong unit";
  return fail(ErrorCode::bad_policy, fmt::format("{} {}: {} is wanted", quoted(text), what, wanted(unit, use)));
}

// ---- for a person

/// A step of a human scale: values from `from` on are shown divided by `factor`.
struct ScaleRow {
  double from;
  double factor;
  std::string_view suffix;
};
constexpr ScaleRow ratio_scale[] = {{0, 0.01, " %"}};
constexpr ScaleRow ns_scale[] = {{1e9, 1e9, " s"}, {1e6, 1e6, " ms"}, {1e3, 1e3, " µs"}, {0, 1, " ns"}};
constexpr ScaleRow one_scale[] = {{0, 1, ""}};
constexpr ScaleRow bytes_scale[] = {
    {1073741824.0, 1073741824.0, " GiB"}, {1048576.0, 1048576.0, " MiB"}, {1024.0, 1024.0, " KiB"}, {0, 1, " B"}};

std::span<const ScaleRow> scale_of(Unit unit) {
  if (unit == Unit::ratio) return ratio_scale;
  if (unit == Unit::ns) return ns_scale;
  return unit == Unit::bytes ? std::span<const ScaleRow>(bytes_scale) : one_scale;
}

/// What stands behind a number of a unit without scales of its own: its word, where it is no count.
std::string suffix_of(Unit unit, const ScaleRow& row) {
  const bool scaled = !row.suffix.empty() || unit == Unit::count;
  return scaled ? std::string(row.suffix) : " " + std::string(word(unit));
}

const ScaleRow& row_for(double value, Unit unit) {
  const std::span<const ScaleRow> rows = scale_of(unit);
  for (const ScaleRow& row : rows)
    if (std::abs(value) >= row.from) return row;
  return rows.back();
}

/// Three significant digits, but never fewer than the whole part; ratios always have one decimal.
int decimals_of(double shown, Unit unit) {
  const double size = std::abs(shown);
  if (unit == Unit::ratio) return 1;
  if (size == std::floor(size) && size < 1e6) return 0;
  return size >= 100 ? 0 : size >= 10 ? 1 : 2;
}

std::string fixed(double value, const ScaleRow& row, int decimals, Unit unit) {
  const std::string suffix = suffix_of(unit, row);
  if (std::abs(value) > 1e15) return fmt::format("{:.3g}{}", value / row.factor, suffix);
  return fmt::format("{:.{}f}{}", value / row.factor, decimals, suffix);
}

constexpr int decimals_max = 6;

}  // namespace

Result<Amount> parse_limit(std::string_view text, Unit unit) { return parse(text, unit, Use::limit); }
Result<Amount> parse_step(std::string_view text, Unit unit) { return parse(text, unit, Use::step); }

Result<Amount> parse_free(std::string_view text) {
  const Quantity quantity = split(text);
  TRACEWEIR_TRY_VOID(check_range(text, quantity));
  const std::string_view written = plain_unit(quantity.unit);
  const auto unit = written.empty() ? Unit::count : unit_of(written);
  if (quantity.number.empty() || text.size() > quantity_bytes_max || !unit)
    return fail(ErrorCode::bad_policy, fmt::format("{} is no number with a unit", quoted(text)));
  const std::string kept(trimmed(text));
  for (const UnitRow& row : unit_rows)
    if (row.word == written) return Amount{scaled(quantity.number, row.exponent) * row.factor, kept, row.unit};
  const BaseUnit base = base_of(*unit);
  return Amount{scaled(quantity.number, 0) * base.factor / base.divisor, kept, base.unit};
}

Result<Tolerance> parse_tolerance(std::string_view text, Unit unit) {
  const Quantity quantity = split(text);
  TRACEWEIR_TRY_VOID(check_range(text, quantity));
  const bool is_ratio = unit == Unit::ratio;
  const std::string_view want = is_ratio ? "a percentage of the level (\"10%\") or percentage points (\"3pp\")"
                                         : "a percentage of the level (\"10%\")";
  if (quantity.number.empty() || text.size() > quantity_bytes_max)
    return fail(ErrorCode::bad_policy, fmt::format("{} is not {}", quoted(text), want));
  if (quantity.unit != "%" && !(is_ratio && quantity.unit == "pp"))
    return fail(ErrorCode::bad_policy, fmt::format("{} is not {}", quoted(text), want));
  const auto kind = quantity.unit == "%" ? Tolerance::Kind::ratio : Tolerance::Kind::points;
  return Tolerance{kind, scaled(quantity.number, -2), fmt::format("{}{}", quantity.number, quantity.unit)};
}

std::string human(double value, Unit unit) {
  const ScaleRow& row = row_for(value, unit);
  return fixed(value, row, decimals_of(value / row.factor, unit), unit);
}

HumanPair human_pair(double from, double to, Unit unit) {
  // Both on the larger one's step, so that a reader compares numbers and not units.
  const ScaleRow& row = row_for(std::max(std::abs(from), std::abs(to)), unit);
  int decimals = std::max(decimals_of(from / row.factor, unit), decimals_of(to / row.factor, unit));
  HumanPair pair{fixed(from, row, decimals, unit), fixed(to, row, decimals, unit)};
  while (from != to && pair.from == pair.to && decimals < decimals_max) {
    ++decimals;
    pair = {fixed(from, row, decimals, unit), fixed(to, row, decimals, unit)};
  }
  return pair;
}

bool rounds_to_nothing(double delta, double level, Unit unit) {
  const double shown = unit == Unit::ratio ? delta * 100 : level != 0 ? delta / std::abs(level) * 100 : delta;
  const bool tenths = unit == Unit::ratio || level != 0;
  return tenths ? std::abs(shown) < 0.05 : human(shown, unit).find_first_of("123456789") == std::string::npos;
}

std::string human_delta(double delta, double level, Unit unit) {
  if (rounds_to_nothing(delta, level, unit))
    return unit == Unit::ratio ? "0.0 pp" : level != 0 ? "0 %" : human(0, unit);
  const std::string_view sign = delta > 0 ? "+" : "";
  if (unit == Unit::ratio) return fmt::format("{}{:.1f} pp", sign, delta * 100);
  if (level == 0) return std::string(sign) + human(delta, unit);
  const double percent = delta / std::abs(level) * 100;
  if (std::abs(percent) > 1e6) return fmt::format("{}{:.3g} %", sign, percent);
  return fmt::format("{}{:.1f} %", sign, percent);
}

std::string spaced(std::string_view quantity) {
  std::string out;
  for (std::size_t i = 0; i < quantity.size(); ++i) {
    const bool unit_begins = i > 0 && is_digit(quantity[i - 1]) && !is_digit(quantity[i]) && quantity[i] != '.';
    if (unit_begins && quantity[i] != ' ') out += ' ';
    out += quantity[i];
  }
  if (out.ends_with(" us")) out.replace(out.size() - 2, 1, "µ");
  return out;
}

}  // namespace traceweir::gate
