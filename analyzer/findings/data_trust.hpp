// For: findings about the data: what a reader, the builder or the view saw that makes the numbers less sure.
// Not for: advice about the job (job_advice).
#pragma once

#include <optional>

#include "analyzer/findings/finding_table.hpp"

namespace traceweir::findings {

/// An oddity that the reader or the builder counted, as it is.
std::optional<Seen> oddity(const Case& seen, FindingCode code);
template <FindingCode code>
std::optional<Seen> counted(const Case& seen) {
  return oddity(seen, code);
}

std::optional<Seen> zero_timestamps(const Case& seen);
std::optional<Seen> stream_overrun(const Case& seen);
std::optional<Seen> invalid_text(const Case& seen);
std::optional<Seen> no_steps(const Case& seen);
std::optional<Seen> few_steps(const Case& seen);
std::optional<Seen> graph_level_tracing(const Case& seen);
std::optional<Seen> unknown_collectives(const Case& seen);
std::optional<Seen> mixed_gpus(const Case& seen);

}  // namespace traceweir::findings
