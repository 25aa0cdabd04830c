// For: bytes to and from the service, over TCP or TLS, with a time limit on each operation.
// Not for: HTTP (client.hpp).
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <chrono>
#include <memory>
#include <string>

namespace traceweir::cli {

/// An open connection. Operations throw boost::system::system_error: the client catches it at its border.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual boost::asio::awaitable<void> connect(const std::string& host, const std::string& port) = 0;
  /// How long each operation that follows may take.
  virtual void allow(std::chrono::seconds time) = 0;
  virtual boost::asio::awaitable<void> write(boost::asio::const_buffer bytes) = 0;
  /// 0: the other side has closed.
  virtual boost::asio::awaitable<std::size_t> read(boost::asio::mutable_buffer into) = 0;
};

std::unique_ptr<Stream> plain_stream(const boost::asio::any_io_executor& executor);
/// The certificate is checked against the system's authorities and the host's name.
std::unique_ptr<Stream> tls_stream(const boost::asio::any_io_executor& executor);

}  // namespace traceweir::cli
