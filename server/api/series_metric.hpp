// For: which metric a question about a series names, and its unit. Not for: the series (store).
#pragma once

#include <string>
#include <vector>

#include "analyzer/core/error.hpp"
#include "analyzer/core/metric.hpp"
#include "server/http/query.hpp"
#include "server/store/store.hpp"

namespace traceweir::api {

/// The metric of `metric=`. Errors: bad_query (missing, given twice, no such metric).
Result<MetricInfo> metric_in(const http::Query& query);

/// Of a metric of the job's own the newest run tells unit and better side; others stay as they are.
/// Errors: store_unavailable.
Result<void> ask_newest_run(MetricInfo& metric, const std::string& project,
                            const std::vector<store::HistoryPoint>& points, store::Store& store);

}  // namespace traceweir::api
