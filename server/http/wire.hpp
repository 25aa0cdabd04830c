// For: a socket, plain or with TLS, with a deadline on every operation, and the bytes that were read ahead of their
// use. Not for: HTTP.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "analyzer/core/error.hpp"
#include "server/http/tls.hpp"

namespace traceweir::http {

/// One operation at a time.
/// Thread: only on the socket's executor (a strand).
class Wire {
 public:
  using Clock = std::chrono::steady_clock;

  /// `tls`: what to encrypt by, after handshake(); null: plain.
  Wire(boost::asio::ip::tcp::socket socket, const Tls* tls);
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  ~Wire();

  [[nodiscard]] bool is_encrypted() const;

  /// The first thing to do where it is encrypted; else nothing is done.
  /// Errors: as read_some.
  boost::asio::awaitable<Result<void>> handshake(Clock::time_point until);

  /// Reads what is there, at least a byte; 0 is the end of the stream. Read-ahead bytes come first.
  /// Errors: request_timeout, bad_request (the connection broke, or was closed by close()).
  boost::asio::awaitable<Result<std::size_t>> read_some(std::span<std::byte> into, Clock::time_point until);

  /// Reads at most `bytes_max` more into ahead(). Returns how many; 0 is the end of the stream.
  /// Errors: as read_some.
  boost::asio::awaitable<Result<std::size_t>> read_ahead(std::size_t bytes_max, Clock::time_point until);

  /// Writes some of the bytes, at least one.
  /// Errors: as read_some.
  boost::asio::awaitable<Result<std::size_t>> write_some(std::string_view bytes, Clock::time_point until);

  /// Bytes that were read and not yet used; valid until the next read.
  [[nodiscard]] std::string_view ahead() const;
  void use(std::size_t count);

  /// Ends the operation that waits, if one does; it fails with bad_request.
  void interrupt();
  /// No more writing: the client sees the end after what was written. What is read from here on is only good for
  /// throwing away. With TLS it waits for the client's own end, until `until`.
  boost::asio::awaitable<void> end_writing(Clock::time_point until);
  /// Ends everything, now.
  void close();

 private:
  struct State;
  std::shared_ptr<State> state_;  ///< shared with the timer's callback, which may outlive this object by a moment
};

}  // namespace traceweir::http
