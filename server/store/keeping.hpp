// For: what is kept of a project, for how long and how much, as values: retention, quota, usage, deletion.
// Not for: the verbs (store.hpp), or deciding what goes (server/pipeline/keeping.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/store/timestamp.hpp"

namespace traceweir::store {

/// What a project wants of its own; nothing: as the service is set. Units: days, bytes, uploads; 0: no limit.
struct Keeping {
  std::optional<std::int64_t> trace_days, trace_bytes_max;            ///< retention: older or more traces go
  std::optional<std::int64_t> stored_bytes_max, uploads_per_day_max;  ///< quota: more uploads are refused
  friend bool operator==(const Keeping&, const Keeping&) = default;
};

struct UsageQuery {
  std::string project{};
  Timestamp since{};
  std::string idempotency_key{};  ///< empty: none
};
/// Units: bytes of the traces that are kept, as uploaded; uploads since a time.
struct Usage {
  std::int64_t stored_bytes = 0, uploads = 0;
  std::optional<std::int64_t> key_bytes{};  ///< of the upload that came with this idempotency key before
};

/// Traces that retention may remove: kept, of runs that have a result, did not fail and were not accepted.
struct TraceQuery {
  std::string project{};
  Timestamp received_before{};
  std::int64_t limit = 100;
};
struct KeptTrace {
  std::string run;
  std::int64_t rank = 0;
  std::string sha256;
  std::int64_t bytes = 0;
  Timestamp received_at{};
};

struct TraceRemoval {
  KeptTrace trace;
  Timestamp at{};
  std::string why;  ///< for people: which limit
};

/// What a deletion took.
struct Deleted {
  std::int64_t runs = 0;
  bool is_whole = true;            ///< false: there is more of the project
  std::vector<std::string> blobs;  ///< SHA-256 of the traces that their uploads had kept; others may refer to them
};

}  // namespace traceweir::store
