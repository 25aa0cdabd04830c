// For: the table of findings about one rank. Adding a finding is a function in its family's pair and a row here.
// Not for: findings about a run of several ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analyzer/core/finding.hpp"
#include "analyzer/findings/attribution.hpp"
#include "analyzer/metrics/rank_view.hpp"

namespace traceweir::findings {

/// What a finding looks at: one rank, measured.
struct Case {
  const metrics::RankView& view;
  const metrics::RankMeasures& measures;
  const Attribution& attribution;
};

/// What was seen. `severity` and `advice` where they are not the row's.
struct Seen {
  std::int64_t count = 1;
  Evidence evidence;
  std::optional<Severity> severity;
  std::optional<std::int64_t> device;
  std::optional<std::string> advice;
};

/// One finding. Source: spec of metrics, section 8. Thresholds are named constants beside the function.
struct FindingRow {
  FindingCode code;
  Severity severity;
  std::string_view advice;  ///< one sentence, for most cases
  std::optional<Seen> (*seen)(const Case&);
};

/// Shape: in the order of FindingCode, no code twice.
std::span<const FindingRow> finding_table();

}  // namespace traceweir::findings
