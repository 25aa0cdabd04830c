// For: bytes to and from the service, over TCP or TLS, with a time limit on each operation.
// Not for: HTTP (client.hpp).
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "cli/proxy.hpp"

namespace traceweir::cli {

/// Where to connect to.
struct Route {
  std::string host, port;
  std::optional<Proxy> proxy;  ///< one that opens a tunnel (CONNECT); only TLS goes through one
};

/// An open connection. Operations throw boost::system::system_error, and std::runtime_error
/// where a proxy refuses: the client catches them at its border.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual boost::asio::awaitable<void> connect(const Route& route) = 0;
  /// How long each operation that follows may take.
  virtual void allow(std::chrono::seconds time) = 0;
  virtual boost::asio::awaitable<void> write(boost::asio::const_buffer bytes) = 0;
  /// 0: the other side has closed.
  virtual boost::asio::awaitable<std::size_t> read(boost::asio::mutable_buffer into) = 0;
};

std::unique_ptr<Stream> plain_stream(const boost::asio::any_io_executor& executor);
/// The certificate is checked against the system's authorities (or those of SSL_CERT_FILE, SSL_CERT_DIR) and the host's
/// name.
std::unique_ptr<Stream> tls_stream(const boost::asio::any_io_executor& executor);

}  // namespace traceweir::cli
