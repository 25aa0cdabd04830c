// For: what docs/metrics.md says of each metric, put into the program at build time (tools/metric_docs.py).
// Not for: what is measured (analyzer/metrics).
#pragma once

#include <span>
#include <string_view>

namespace traceweir::cli {

/// One row of the page. `id` may begin with `K.`, which stands for every collective, or hold NAME.
struct MetricDoc {
  std::string_view section, inputs, id, unit, better, formula, not_meant;
};

/// Shape: in the order of the page, sections together.
std::span<const MetricDoc> metric_docs();

}  // namespace traceweir::cli
