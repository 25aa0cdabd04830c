// For: accepting connections and keeping them within the limits; one strand per connection, one request at a time on
// it. Not for: routes, logging.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "analyzer/core/error.hpp"
#include "server/http/access.hpp"
#include "server/http/addresses.hpp"
#include "server/http/limits.hpp"
#include "server/http/router.hpp"
#include "server/http/tls.hpp"

namespace traceweir::http {

struct ListenerOptions {
  std::string address = "127.0.0.1";  ///< an address, not a name
  std::uint16_t port = 8080;          ///< 0: one that is free, see Listener::port
  HttpLimits limits;
  Networks trusted_proxies;  ///< whose X-Forwarded-For is believed, and whose connections are not counted
  const Tls* tls = nullptr;  ///< outlives the listener; null: plain HTTP
  Handler handler;           ///< mostly a Router
  std::function<std::string()> new_request_id;  ///< UUIDv7; called from several threads
  AccessLog access_log;                         ///< may be empty
};

/// `run` serves until `stop`. Everything that handlers need must outlive `run`.
class Listener {
 public:
  /// Binds and listens, so that clients may connect from here on (they are answered once run() is called).
  /// Errors: bad_config (the address is none, or the port is taken or not ours to take), naming both.
  static Result<Listener> open(ListenerOptions options);

  Listener(Listener&&) noexcept;
  Listener& operator=(Listener&&) noexcept;
  ~Listener();

  /// The port that is listened on.
  [[nodiscard]] std::uint16_t port() const;

  /// Connections that are open now.
  [[nodiscard]] std::size_t connections() const;

  /// For timers and work of the app that belong on these threads.
  [[nodiscard]] boost::asio::any_io_executor executor() const;

  /// Serves on `thread_count` threads, the calling one among them. Returns after stop(), when the last connection has
  /// ended; a handler that waits for a worker is waited for, so stop the workers too.
  void run(unsigned thread_count);

  /// Stops accepting and closes idle connections; requests in flight may finish for `finish_time_max`, then their
  /// sockets are closed. Returns at once; a second call shortens the time. Thread: any.
  void stop(std::chrono::milliseconds finish_time_max);

 private:
  struct Impl;
  explicit Listener(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace traceweir::http
