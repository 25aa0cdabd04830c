// For: all findings about one rank, from the table of findings (finding_table).
// Not for: deciding whether a finding fails a run (gate).
#pragma once

#include <vector>

#include "analyzer/core/finding.hpp"
#include "analyzer/findings/attribution.hpp"
#include "analyzer/metrics/rank_view.hpp"

namespace traceweir::findings {

/// Shape: in the order of FindingCode; a code appears once per rank (or once per device where it is a device's).
std::vector<Finding> find(const metrics::RankView& view, const metrics::RankMeasures& measures,
                          const Attribution& attribution);

}  // namespace traceweir::findings
