// For: what a metric is, as a value: id, unit, better side, and why one was not measured. The table of all metrics is
// analyzer/metrics/metric_table; rooms that may not include it (gate, server) see it through report/catalog.
// Not for: measuring.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace traceweir {

/// The unit of a metric's value, as it is stored, printed and parsed.
enum class Unit { ratio, ns, count, bytes, gb_per_s };
std::string_view word(Unit unit);  // "ratio", "ns", "count", "bytes", "GB/s"
std::optional<Unit> unit_of(std::string_view word);

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
