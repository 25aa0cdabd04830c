// For: an answer as bytes: the head with what every answer carries, and the opened body.
// Not for: the socket.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server/http/response.hpp"

namespace traceweir::http {

/// An opened file, closed at the end.
class OpenFile {
 public:
  OpenFile() = default;
  /// Errors: not_found (gone, or no regular file).
  static Result<OpenFile> open(const std::filesystem::path& path);
  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&& other) noexcept;
  ~OpenFile();

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// The next bytes, at most `bytes_max`; empty at the end, or where the file cannot be read.
  std::string read(std::size_t bytes_max);

 private:
  int descriptor_ = -1;
  std::uint64_t bytes_ = 0;
};

enum class KeepAlive { yes, no };
enum class Transport { plain, tls };

/// What the session knows of an answer.
struct ReplyFacts {
  std::string_view request_id;
  Verb verb = Verb::get;
  KeepAlive keep_alive = KeepAlive::no;
  Transport transport = Transport::plain;
};

/// A reply that is ready to be written: `text` (head and, where it is in memory, body), then `file` where there is one.
struct Reply {
  Status status;
  std::string text;
  std::optional<OpenFile> file;
};

/// Adds Date, X-Request-Id, Content-Length, Connection, Cache-Control and the security headers; writes an Error as
/// problem+json; opens a file. A field with a line break in it is our bug and becomes a 500, never a second header.
Reply make_reply(Response response, const ReplyFacts& facts);

}  // namespace traceweir::http
