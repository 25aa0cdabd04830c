// For: one request, as a handler sees it. Everything in it has passed the checks of head.hpp.
// Not for: the socket.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"
#include "server/http/body.hpp"
#include "server/http/query.hpp"

namespace traceweir::http {

enum class Verb { get, head, post, put, patch, del, options };
/// `GET`, `DELETE`, …
std::string_view word(Verb verb);
std::optional<Verb> verb_of(std::string_view word);

/// A header field. In requests the name is in lower case.
struct Header {
  std::string name;
  std::string value;
};

/// The value that a path had in the place of `{name}`.
struct PathParam {
  std::string name;
  std::string value;
};

class Admission;

struct Request {
  std::string id;         ///< ours, or a clean X-Request-Id of the client's
  std::string remote;     ///< the client's address, without the port; behind a trusted proxy, what that says
  Verb verb = Verb::get;  ///< a HEAD stays `head`; its handler is that of GET and need not look
  std::vector<std::string>
      segments;                   ///< the path, decoded: valid UTF-8, no control characters, no `/`, not `.` or `..`
  std::vector<PathParam> params;  ///< filled in by the router, as is
  std::string route;              ///< the pattern of the route
  Query query;
  std::vector<Header> headers;
  BodyReader* body = nullptr;      ///< never null in a handler
  Admission* admission = nullptr;  ///< never null in a handler: whom it tells what it found of the token

  /// The value in the place of `{name}` of the route's pattern. A name that the pattern lacks is our bug.
  [[nodiscard]] const std::string& param(std::string_view name) const;

  /// The field's value, or nothing. `name` in lower case. Fields with one meaning (authorization, content-type,
  /// content-encoding, idempotency-key, x-content-sha256, expect, host, content-length) are never repeated.
  [[nodiscard]] std::optional<std::string> header(std::string_view name) const;

  /// The token of `Authorization: Bearer …`; nothing without that header.
  /// Errors: unauthorized (another scheme, or no token). The message never repeats what was sent.
  [[nodiscard]] Result<std::optional<std::string>> bearer_token() const;

  /// Whether the Accept header asks for this media type by name (`text/markdown`), so that a client that takes anything
  /// gets the default.
  [[nodiscard]] bool accepts(std::string_view media_type) const;
};

}  // namespace traceweir::http
