// For: an answer, as a handler gives it. The session adds Content-Length, Date, X-Request-Id and the security headers.
// Not for: JSON (wire), the socket.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analyzer/core/error.hpp"
#include "server/http/request.hpp"

namespace traceweir::http {

enum class Status : std::uint16_t {
  ok = 200,
  created = 201,
  accepted = 202,
  no_content = 204,
  see_other = 303,
  not_modified = 304,
  bad_request = 400,
  unauthorized = 401,
  forbidden = 403,
  not_found = 404,
  method_not_allowed = 405,
  request_timeout = 408,
  conflict = 409,
  gone = 410,
  length_required = 411,
  payload_too_large = 413,
  unsupported_media_type = 415,
  expectation_failed = 417,
  unprocessable = 422,
  failed_dependency = 424,
  too_many_requests = 429,
  internal_error = 500,
  not_implemented = 501,
  unavailable = 503,
  insufficient_storage = 507,
};
/// The standard's phrase: `Not Found`. Never empty.
std::string_view reason(Status status);

/// A file to be sent. It is opened before the status line is written; one that is gone answers 404.
struct FileBody {
  std::filesystem::path path;
  std::shared_ptr<const void> keeper{};  ///< what keeps the file there until it is open; shared, as answers are copied
};

/// An Error is written as problem+json with the request's id (problem.hpp).
struct Response {
  Status status = Status::ok;
  std::vector<Header> headers;  ///< a field given here replaces the session's own of that name (Cache-Control, CSP)
  std::variant<std::string, FileBody, Error> body;

  /// Sets a field, replacing one of that name. Returns *this, so that an answer can be built in one expression.
  Response& set(std::string_view name, std::string value) &;
  Response&& set(std::string_view name, std::string value) &&;
  [[nodiscard]] std::optional<std::string> header(std::string_view name) const;
};

/// An answer with a body in memory.
Response respond(Status status, std::string_view content_type, std::string body);

/// A file as a download: `Content-Disposition: attachment` under `name` (made inert), never shown by a browser.
/// `keeper`: as in FileBody.
Response download(std::filesystem::path path, std::string_view content_type, std::string_view name,
                  std::shared_ptr<const void> keeper = nullptr);

}  // namespace traceweir::http
