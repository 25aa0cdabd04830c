#include "server/http/problem.hpp"

#include <array>
#include <cstddef>
#include <utility>

#include "analyzer/core/text.hpp"

namespace traceweir::http {
namespace {

constexpr std::size_t detail_bytes_max = 1500;
constexpr const char* retry_after_seconds = "5";

struct Row {
  ErrorCode code;
  Status status;
  std::string_view title;
};

constexpr std::array rows = {
    Row{ErrorCode::usage, Status::bad_request, "Not understood"},
    Row{ErrorCode::bad_config, Status::internal_error, "The service is misconfigured"},
    Row{ErrorCode::bad_query, Status::bad_request, "A query parameter is wrong"},
    Row{ErrorCode::bad_body, Status::bad_request, "The body is not what was expected"},
    Row{ErrorCode::bad_policy, Status::unprocessable, "The policy is wrong"},
    Row{ErrorCode::empty_upload, Status::bad_request, "The upload is empty"},
    Row{ErrorCode::unknown_format, Status::unsupported_media_type, "Unknown format"},
    Row{ErrorCode::not_a_trace, Status::unprocessable, "Not a trace"},
    Row{ErrorCode::unsupported_format, Status::unsupported_media_type, "Unsupported format"},
    Row{ErrorCode::malformed_trace, Status::unprocessable, "The trace is malformed"},
    Row{ErrorCode::trace_too_large, Status::payload_too_large, "The trace is too large"},
    Row{ErrorCode::upload_too_large, Status::payload_too_large, "The upload is too large"},
    Row{ErrorCode::hash_mismatch, Status::unprocessable, "The bytes do not match their hash"},
    Row{ErrorCode::length_required, Status::length_required, "A length is required"},
    Row{ErrorCode::unsupported_encoding, Status::unsupported_media_type, "Unsupported encoding"},
    Row{ErrorCode::bad_request, Status::bad_request, "The request is not acceptable HTTP"},
    Row{ErrorCode::unauthorized, Status::unauthorized, "A valid token is required"},
    Row{ErrorCode::forbidden, Status::forbidden, "The token does not allow this"},
    Row{ErrorCode::not_found, Status::not_found, "Not found"},
    Row{ErrorCode::method_not_allowed, Status::method_not_allowed, "Method not allowed"},
    Row{ErrorCode::key_reused, Status::conflict, "The idempotency key was used with another body"},
    Row{ErrorCode::conflict, Status::conflict, "Not possible in this state"},
    Row{ErrorCode::queue_full, Status::unavailable, "Too much work is waiting"},
    Row{ErrorCode::store_unavailable, Status::unavailable, "The store cannot be reached"},
    Row{ErrorCode::disk_full, Status::insufficient_storage, "The disk is full"},
    Row{ErrorCode::request_timeout, Status::request_timeout, "The request came too slowly"},
    Row{ErrorCode::analysis_timeout, Status::unprocessable, "The analysis took too long"},
    Row{ErrorCode::analysis_failed, Status::unprocessable, "The analysis failed"},
    Row{ErrorCode::analysis_interrupted, Status::unavailable, "The analysis was interrupted"},
    Row{ErrorCode::unreachable, Status::unavailable, "Another service cannot be reached"},
    Row{ErrorCode::io_failed, Status::unavailable, "A file of the service cannot be used"},
    Row{ErrorCode::quota_exceeded, Status::insufficient_storage, "The project's quota is used up"},
    Row{ErrorCode::too_many_uploads, Status::too_many_requests, "The project has sent too many uploads"},
    Row{ErrorCode::trace_removed, Status::gone, "The trace is no longer kept"},
    Row{ErrorCode::internal, Status::internal_error, "An error of the service"},
};

/// Row i describes enumerator i, so that the look-up is an index and a missing row does not compile.
constexpr bool in_order() {
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (static_cast<std::size_t>(rows[i].code) != i) return false;
  return rows.back().code == ErrorCode::internal;
}
static_assert(in_order());

const Row& row_of(ErrorCode code) { return rows[static_cast<std::size_t>(code)]; }

/// A JSON string. The text is clean: valid UTF-8 without control characters.
std::string json_string(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') json += '\\';
    json += c;
  }
  return json + '"';
}

}  // namespace

Status status_of(ErrorCode code) { return row_of(code).status; }

std::string_view title_of(ErrorCode code) { return row_of(code).title; }

std::string public_detail(const Error& error) {
  if (error.code != ErrorCode::store_unavailable) return error.message;
  for (const std::string_view ours : {"store: ", "blob store: "})
    if (error.message.starts_with(ours)) return error.message.substr(0, error.message.find(": ", ours.size()));
  return "the store cannot be used now";
}

Response problem(Error error) {
  Response response{status_of(error.code), {{"Content-Type", std::string(problem_type)}}, {}};
  if (response.status == Status::unavailable) response.set("Retry-After", retry_after_seconds);
  if (response.status == Status::unauthorized) response.set("WWW-Authenticate", "Bearer");
  response.body = std::move(error);
  return response;
}

std::string problem_json(const Error& error, Status status, std::string_view request_id) {
  std::string json = "{\"type\":" + json_string(word(error.code));
  json += ",\"title\":" + json_string(title_of(error.code));
  json += ",\"status\":" + std::to_string(static_cast<unsigned>(status));
  json += ",\"detail\":" + json_string(clean_text(public_detail(error), detail_bytes_max));
  json += ",\"request_id\":" + json_string(clean_text(request_id, 64)) + "}\n";
  return json;
}

}  // namespace traceweir::http
