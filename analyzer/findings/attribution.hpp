// For: where every nanosecond of every device's window went, each in exactly one term: the raw material of
// explanations. Not for: judging whether that is good (job_advice).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzer/core/time.hpp"
#include "analyzer/metrics/rank_view.hpp"

namespace traceweir::findings {

/// Why a device was idle. Source: spec of metrics, section 8, first rule that applies.
enum class IdleCause { input, sync, launch, dependency, unknown };
std::string_view word(IdleCause cause);
std::optional<IdleCause> idle_cause_of(std::string_view word);

/// Which sum a term belongs to.
enum class TermKind { idle, compute, graph, exposed_comm, exposed_memory };
std::string_view word(TermKind kind);
std::optional<TermKind> term_kind_of(std::string_view word);

/// One row of the breakdown. Only the fields of its kind are used.
struct Term {
  TermKind kind;
  std::string name;  ///< compute: kernel; idle: phase (empty: none); exposed_memory: direction (`memset` for memsets)
  IdleCause cause = IdleCause::unknown;                           ///< idle
  timeline::Collective collective = timeline::Collective::other;  ///< exposed_comm
  std::int64_t bytes = 0;                                         ///< exposed_comm; 0: unknown
  Nanos length{};
};

/// Idle time of one device, by cause. Sums to the device's idle time exactly.
struct IdleCauses {
  std::int64_t device;
  std::map<IdleCause, Nanos> causes;  ///< all five causes are present
};

/// Shape: terms sum to devices × window length, exactly (asserted); terms of one kind by length, descending.
struct Attribution {
  std::vector<IdleCauses> idle;
  std::vector<Term> breakdown;
};

/// Cost: O(n log n).
Attribution attribute(const metrics::RankView& view);

}  // namespace traceweir::findings
