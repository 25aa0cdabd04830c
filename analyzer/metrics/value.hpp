// For: what a metric function answers. Not for: how it is stored (measure.hpp) or listed (metric_table.hpp).
#pragma once

#include <cstdint>
#include <variant>

#include "analyzer/core/metric.hpp"

namespace traceweir::metrics {

/// An exact integer, a ratio, mean or quantile, or the reason why there is none.
using Value = std::variant<std::int64_t, double, NotMeasured>;

}  // namespace traceweir::metrics
