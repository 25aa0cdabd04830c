// For: what a metric is, as a value: id, unit, better side, and why one was not measured. The table of all metrics is
// analyzer/metrics/metric_table; rooms that may not include it (gate, server) see it through report/catalog.
// Not for: measuring.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace traceweir {

/// The unit of a metric's value, as it is stored, printed and parsed: a short word. What we measure has one of the five
/// named here; what others measured (`custom.NAME`) has the unit that they say.
class Unit {
 public:
  static constexpr std::size_t bytes_max = 23;
  static const Unit ratio, ns, count, bytes, gb_per_s;

  constexpr Unit() : Unit("count") {}
  /// Shape: at most bytes_max bytes; the rest is cut (unit_of checks).
  constexpr explicit Unit(std::string_view word) {
    for (std::size_t i = 0; i < word.size() && i < bytes_max; ++i) text_[i] = word[i];
  }
  [[nodiscard]] constexpr std::string_view word() const { return text_.data(); }
  friend constexpr bool operator==(const Unit& a, const Unit& b) { return a.word() == b.word(); }

 private:
  std::array<char, bytes_max + 1> text_{};
};
inline constexpr Unit Unit::ratio{"ratio"};
inline constexpr Unit Unit::ns{"ns"};
inline constexpr Unit Unit::count{"count"};
inline constexpr Unit Unit::bytes{"bytes"};
inline constexpr Unit Unit::gb_per_s{"GB/s"};

std::string_view word(const Unit& unit);
/// Nothing for what cannot be a unit: empty, longer than Unit::bytes_max, or with characters that are no clean text.
std::optional<Unit> unit_of(std::string_view word);

/// A unit in terms of those that we measure in: a value times `factor`, divided by `divisor`, is in `unit`.
/// `s` is 1e9 ns, `%` a hundredth, `KiB` 1024 bytes; what we do not know is its own base.
struct BaseUnit {
  Unit unit;
  double factor = 1;
  double divisor = 1;
};
BaseUnit base_of(const Unit& unit);

/// Metrics that others measured are called custom.NAME; their unit and better side come with every value.
inline constexpr std::string_view custom_prefix = "custom.";
/// Whether `id` is one of them.
bool is_custom(std::string_view id);

/// Which side of a metric is the good one; `none`: it has none, a baseline rule needs a direction.
enum class Better { none, lower, higher };
std::string_view word(Better better);  // "none", "lower", "higher"
std::optional<Better> better_of(std::string_view word);

/// Why a metric has no value. Not measured is never zero.
enum class NotMeasured {
  no_gpu_work,
  no_steps,
  few_steps,
  no_comm,
  no_copies,
  no_sizes,
  unknown_memory_kind,
  graph_opaque,
  no_host_calls,
  single_rank,
  ranks_apart,
  no_such_table,
  untrusted_data,
};
std::string_view word(NotMeasured reason);
std::optional<NotMeasured> not_measured_of(std::string_view word);

/// A measured number. Exact integers (ns, counts, bytes) stay integers on the way to JSON and back.
using Number = std::variant<std::int64_t, double>;
double as_double(const Number& number);

/// One row of the catalogue of metrics. Source: spec of metrics, docs/metrics.md.
struct MetricInfo {
  std::string id;  ///< `allreduce.time_mean`; stored in databases, never renamed
  Unit unit;
  Better better;
  std::string meaning;  ///< one line for `traceweir metrics` and docs/metrics.md
};

}  // namespace traceweir
