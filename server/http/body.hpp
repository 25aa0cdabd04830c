// For: the body of a request as a stream of bytes, so that an upload is never held in memory.
// Not for: decompression or meaning.
#pragma once

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "analyzer/core/error.hpp"

namespace traceweir::http {

/// A good size for the buffer that a handler reads into.
inline constexpr std::size_t body_buffer_bytes = std::size_t{256} * 1024;

/// Reads the body of one request, in order, once. The session's reader reads the socket; StringBody is its twin in
/// memory, for tests of handlers.
/// Thread: only from the coroutine that handles the request.
class BodyReader {
 public:
  virtual ~BodyReader() = default;

  /// The next bytes, at most into.size(); 0 is the end of the body. The first call answers `Expect: 100-continue`, so
  /// call it only after authorization and size checks.
  /// Errors: request_timeout (slower than the limits allow), bad_request (the client closed early, or broke the chunked
  ///         coding). After an error the connection is closed once the answer is written.
  virtual boost::asio::awaitable<Result<std::size_t>> read(std::span<std::byte> into) = 0;

  /// What the client announced: Content-Length, 0 without a body, nothing for a chunked body.
  [[nodiscard]] virtual std::optional<std::uint64_t> announced_bytes() const = 0;
};

/// Takes a small body whole.
/// Errors: upload_too_large, naming the limit (before a byte is read, where the length was announced), and what read()
///         gives.
boost::asio::awaitable<Result<std::string>> read_small(BodyReader& body, std::size_t bytes_max);

/// A body that is already there.
class StringBody final : public BodyReader {
 public:
  explicit StringBody(std::string text) : text_(std::move(text)) {}

  /// Errors: none.
  boost::asio::awaitable<Result<std::size_t>> read(std::span<std::byte> into) override;
  [[nodiscard]] std::optional<std::uint64_t> announced_bytes() const override { return text_.size(); }

 private:
  std::string text_;
  std::size_t taken_ = 0;
};

}  // namespace traceweir::http
