// For: accepted regressions on the wire, both ways. Source: the HTTP contract, docs/api.md.
// Not for: what an acceptance does (gate, server/pipeline).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"
#include "server/wire/json.hpp"
#include "server/wire/timestamp.hpp"

namespace traceweir::wire {

inline constexpr std::size_t reason_bytes_max = 1'000;
inline constexpr std::size_t author_bytes_max = 200;
inline constexpr std::size_t accepted_metrics_max = 1'000;

/// What a client asks for. Shape: metrics are empty where all are accepted.
struct AcceptanceRequest {
  bool every_metric = false;
  std::vector<std::string> metrics{};
  std::string reason;
  std::optional<std::string> author{};
  std::optional<Timestamp> until{};
};

std::string to_json(const AcceptanceRequest& request);
/// Errors: bad_body, naming the key: none or a long reason, no metrics, a time that is none.
Result<AcceptanceRequest> acceptance_request_from_json(std::string_view text);

struct AcceptanceDocument {
  std::string id, run, commit, workload;
  bool every_metric = false;
  std::vector<std::string> metrics{};  ///< empty where all are accepted
  std::string reason, author;
  Timestamp created_at{};
  std::optional<Timestamp> until{}, undone_at{};
  std::string undone_by{};  ///< with `undone_at`
};

Json json_of(const AcceptanceDocument& acceptance);
std::string to_json(const AcceptanceDocument& acceptance);
/// `{"acceptances": […]}`.
std::string to_json(std::span<const AcceptanceDocument> acceptances);
/// Errors: bad_body, naming the key.
Result<AcceptanceDocument> acceptance_from_json(std::string_view text);
/// The same of a parsed document. Errors: bad_body, naming the key.
Result<AcceptanceDocument> acceptance_of(const Json& json);

/// What still stands, one sentence each: "accepted by Ada on 2026-11-29 (gpu.idle), until 2026-12-31: Larger batch".
/// Shape: what was undone is left out; names are as they were given, so whoever shows them escapes them.
std::vector<std::string> sentences_of(std::span<const AcceptanceDocument> acceptances);

}  // namespace traceweir::wire
