// For: the head of a request (request line and fields) from bytes that a stranger sent, read strictly: what two readers
// could understand in two ways is refused, so that no proxy in front of us ever disagrees about where a request ends.
// Not for: bodies, the socket. Source: RFC 9112 and the list in the spec of reliability, section 2.2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/limits.hpp"
#include "server/http/response.hpp"

namespace traceweir::http {

/// How the end of the body is told.
enum class Framing { length, chunked };

struct Head {
  Verb verb = Verb::get;
  std::string path;  ///< as sent, without the query
  std::vector<std::string> segments;
  Query query;
  std::vector<Header> headers;  ///< names in lower case
  Framing framing = Framing::length;
  std::uint64_t body_bytes = 0;  ///< for Framing::length
  bool keep_alive = false;       ///< whether the client wants and can have another request on this connection
  bool expects_continue = false;
};

/// A request that is answered and not interpreted; the connection closes. Some have a status that their error has not
/// elsewhere (501 for a transfer coding).
struct Refusal {
  Status status = Status::bad_request;
  Error error;
};

/// Looks for the end of a head in bytes that arrive in pieces.
class HeadScan {
 public:
  enum class State { incomplete, complete, broken };

  /// `bytes` is everything received so far, beginning where it did before. Broken: a CR or LF alone, a NUL, an empty
  /// first line; such a head will never be complete.
  State look_at(std::string_view bytes);

  /// The head's length with its empty line, once complete.
  [[nodiscard]] std::size_t head_bytes() const { return at_; }

 private:
  std::size_t at_ = 0;
  std::size_t line_begin_ = 0;
};

/// The method and the path as far as they can be told, for the log. Empty: not told.
struct RequestLine {
  std::string method;
  std::string path;
};
RequestLine request_line_of(std::string_view head);

/// Reads a complete head.
tl::expected<Head, Refusal> parse_head(std::string_view head, const HttpLimits& limits);

}  // namespace traceweir::http
