// For: why a metric differs between two runs, as values: what a verdict and a comparison carry. Every explanation's
// contributions add up to its delta.
// Not for: working them out (explain.hpp), JSON (server/wire).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/metric.hpp"

namespace traceweir::gate {

/// What a part of a difference is due to. Spelt like the wire's words, dots for underscores after `idle`.
/// Source: spec of the gate, section 7.
enum class Cause {
  // Idle time comes first (is_idle).
  idle_input,
  idle_sync,
  idle_launch,
  idle_dependency,
  idle_unknown,
  compute,
  graph,
  exposed_comm,
  exposed_memory,
  transfer,
  wait,
  size_slower,
  size_mix,
  distribution,
  other,
};
std::string_view word(Cause cause);
std::optional<Cause> cause_of(std::string_view word);
/// Whether the part is time in which the GPU does nothing.
constexpr bool is_idle(Cause cause) { return cause <= Cause::idle_unknown; }

/// One row of an explanation.
struct Contribution {
  Cause cause = Cause::other;
  std::string name;   ///< kernel, `allreduce 64 MiB`, direction of a copy; of idle time the cause itself
  std::string phase;  ///< of idle time; empty: none
  double delta = 0;   ///< unit of the metric
  std::string note;   ///< what else changed about it: `new`, `5 calls a step instead of 3`; empty: nothing
};

/// Why a metric differs from its value in another run.
struct Explanation {
  std::string metric;
  Unit unit;
  std::string against_run;  ///< id of the run that is explained against; empty: a file
  double base = 0, head = 0;
  double delta = 0;      ///< head - base
  std::string sentence;  ///< one plain sentence, the largest cause first
  /// Sum to delta. At most contributions_max, the largest first, `other` last.
  std::vector<Contribution> contributions;
};
inline constexpr std::size_t contributions_max = 10;

/// Another program ran: its numbers are no regression of this one.
struct WorkloadChange {
  std::string sentence;
  std::vector<std::string> reasons;
};

/// What waiting GPUs cost. Units: money per hour, in the currency of the policy.
struct Cost {
  std::int64_t gpus = 0;
  double gpu_hour = 0;  ///< price of an hour of one GPU
  double idle_per_hour = 0;
  std::optional<double> exposed_per_hour;  ///< communication and copies without compute; nothing: not measured
  std::optional<double> delta_per_hour;    ///< of both against the baseline; nothing: there is none
  std::string sentence;
};

/// A fact of the environment that differs.
struct EnvironmentChange {
  std::string key, base, head;  ///< empty: unknown
};

/// A metric that both runs have.
struct MetricChange {
  std::string metric;
  Unit unit;
  double base = 0, head = 0;
};

/// Two runs beside each other.
struct Diff {
  std::string summary;  ///< the first sentence
  std::vector<EnvironmentChange> environment;
  std::vector<MetricChange> metrics;  ///< in the order of the catalogue
  std::vector<Explanation> explanations;
  std::vector<std::string> facts;  ///< sentences: calls, findings that came and went, the environment
  std::optional<WorkloadChange> workload_changed;
  std::optional<Cost> cost;
};

}  // namespace traceweir::gate
