// For: findings about the job: where its time goes and what usually helps. Thresholds and their sources stand beside
// each function. Not for: judging a run; a finding becomes a rule only where a policy says so.
#pragma once

#include <optional>

#include "analyzer/findings/finding_table.hpp"

namespace traceweir::findings {

std::optional<Seen> small_allreduces(const Case& seen);
std::optional<Seen> exposed_allreduce(const Case& seen);
std::optional<Seen> sync_in_step(const Case& seen);
std::optional<Seen> pageable_copies(const Case& seen);
std::optional<Seen> serial_copies(const Case& seen);
std::optional<Seen> input_bound(const Case& seen);
std::optional<Seen> launch_bound(const Case& seen);
std::optional<Seen> many_small_copies(const Case& seen);
std::optional<Seen> alloc_in_step(const Case& seen);
std::optional<Seen> low_utilization(const Case& seen);
std::optional<Seen> gap(const Case& seen);

}  // namespace traceweir::findings
