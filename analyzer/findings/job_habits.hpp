// For: findings about how a job is written and where it runs, from its ranges and counters. Thresholds and their
// sources stand beside each function. Not for: where its time goes (job_advice) or several ranks (run_advice).
#pragma once

#include <optional>

#include "analyzer/findings/finding_table.hpp"

namespace traceweir::findings {

std::optional<Seen> accumulation_sync(const Case& seen);
std::optional<Seen> mixed_backends(const Case& seen);
std::optional<Seen> hot_gpu(const Case& seen);

}  // namespace traceweir::findings
