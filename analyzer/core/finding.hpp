// For: what is odd about a trace (data trust) or about the job (advice), as values with evidence.
// Not for: failures; a trace that cannot be read at all is an Error.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace traceweir {

/// Source: spec of metrics, section 8. The spelling is the word in JSON, in policies and in the docs.
enum class FindingCode {
  // about the data
  truncated,
  lost_events,
  zero_timestamps,
  stream_overrun,
  duplicate_events,
  negative_duration,
  open_range,
  no_steps,
  few_steps,
  graph_level_tracing,
  unknown_collectives,
  clock_base_missing,
  orphan_kernels,
  mixed_gpus,
  invalid_text,
  // about the job
  small_allreduces,
  exposed_allreduce,
  sync_in_step,
  accumulation_sync,
  pageable_copies,
  serial_copies,
  input_bound,
  launch_bound,
  many_small_copies,
  alloc_in_step,
  straggler,
  rank_imbalance,
  mixed_backends,
  low_utilization,
  gap,
  hot_gpu,
};
std::string_view word(FindingCode code);
std::optional<FindingCode> finding_code_of(std::string_view word);

/// `data_loss` makes the verdict inconclusive; the others inform.
enum class Severity { info, warning, data_loss };
std::string_view word(Severity severity);
std::optional<Severity> severity_of(std::string_view word);

/// Numbers and names that show the finding. Keys carry their unit last (`offset_ns`).
using Evidence = std::map<std::string, std::variant<std::int64_t, double, std::string>>;

struct Finding {
  FindingCode code;
  Severity severity;
  std::optional<std::int64_t> device;  ///< ordinal, where one device is meant; else the whole rank
  std::int64_t count = 1;
  Evidence evidence;
  std::string advice;  ///< one sentence
};

}  // namespace traceweir
