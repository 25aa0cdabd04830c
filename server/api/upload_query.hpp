// For: what an upload says of its run, read strictly from the query and the headers.
// Not for: the body.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/core/error.hpp"
#include "server/api/run_answer.hpp"
#include "server/api/services.hpp"

namespace traceweir::api {

struct UploadQuery {
  store::RunHead head;  ///< without id, project, token and time
  std::vector<std::string> parents;
  std::int64_t rank = 0;
  std::string name;    ///< the client's name of the file, cleaned
  std::string policy;  ///< SHA-256 of a policy that was sent before; empty: none
  std::string sha256;  ///< that the client announces (X-Content-SHA256 or Digest); empty: none
  std::chrono::seconds wait;
  FailStatus fail_status = FailStatus::created;
  std::vector<std::string> warnings;
};

/// Errors: bad_query (naming the parameter and what was expected), unsupported_encoding.
Result<UploadQuery> upload_query(const http::Request& request, const ApiLimits& limits);

/// Whether `text` may name a project or a workload: 1–128 of letters, digits, `.`, `_`, `-`, not beginning with `.`.
bool is_name(std::string_view text);

}  // namespace traceweir::api
