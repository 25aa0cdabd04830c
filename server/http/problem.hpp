// For: errors as RFC 9457 problem+json. The one table that maps ErrorCode to an HTTP status.
// Not for: logging.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/core/error.hpp"
#include "server/http/response.hpp"

namespace traceweir::http {

inline constexpr std::string_view problem_type = "application/problem+json";

/// The status of an error. Every code has one.
Status status_of(ErrorCode code);

/// `Unknown format`: one short line per code, the same for every occurrence.
std::string_view title_of(ErrorCode code);

/// What of an error's message strangers may read: a database's own words name hosts, sockets and paths, so that of
/// store_unavailable only our sentence is left. The log has the whole.
std::string public_detail(const Error& error);

/// The answer for an error; 503 carries Retry-After, 401 WWW-Authenticate. The session writes the text, with the id of
/// the request.
Response problem(Error error);

/// The text of a problem: `type` (the error's word), `title`, `status`, `detail` (cleaned, cut), `request_id`.
/// Shape: one JSON object, less than 4 KiB.
std::string problem_json(const Error& error, Status status, std::string_view request_id);

}  // namespace traceweir::http
