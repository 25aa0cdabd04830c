// For: the catalogue: every metric with id, unit, better side, meaning and function. Adding one = one function in its
// family's pair + one row in the table here + a golden case + a row in docs/metrics.md.
// Ids are stored in databases: never rename one, only retire it.
// Not for: how a metric is computed (its family's pair).
#pragma once

#include <optional>
#include <span>

#include "analyzer/metrics/rank_view.hpp"
#include "analyzer/metrics/ranks.hpp"
#include "analyzer/metrics/value.hpp"

namespace traceweir::metrics {

/// One metric of the catalogue. Exactly one function is set; those of a kind have `kind`.
struct Metric {
  MetricInfo info;
  std::optional<timeline::Collective> kind;
  Value (*of_rank)(const RankView&) = nullptr;
  Value (*of_kind)(const RankView&, timeline::Collective) = nullptr;
  RunValue (*of_run)(const RunView&) = nullptr;
  RunValue (*of_kind_of_run)(const RunView&, timeline::Collective) = nullptr;

  /// Whether one rank is enough.
  [[nodiscard]] bool one_rank() const { return of_rank != nullptr || of_kind != nullptr; }
};

/// In the order of catalog().
std::span<const Metric> metric_table();

/// A value under its metric's name.
Measurement measurement_of(const MetricInfo& info, const Value& value);

}  // namespace traceweir::metrics
