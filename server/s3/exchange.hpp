// For: one request to one host and its whole answer, bounded in time and bytes, that can be broken off. No redirect is
// followed. Not for: what is asked, or asking again (client.hpp).
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <chrono>
#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "analyzer/core/error.hpp"
#include "server/outbound/conversations.hpp"
#include "server/s3/settings.hpp"

namespace traceweir::s3 {

struct Outgoing {
  std::string method;
  std::string target;  ///< encoded path and query
  Fields headers;      ///< without Content-Length
  std::span<const char> body{};
};

struct Answer {
  unsigned status = 0;
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string body;
};

struct ExchangeLimits {
  std::chrono::milliseconds time_max;
  std::size_t answer_bytes_max;
};

/// Thread: share freely.
class Exchange {
 public:
  explicit Exchange(Endpoint endpoint);

  /// Whatever the answer says.
  /// Errors: unreachable: no connection, a refused address, no valid certificate, no HTTP, an answer that is cut or too
  ///         large, out of time, broken off.
  Result<Answer> send(const Outgoing& request, ExchangeLimits limits);

  /// Breaks off all that run, and every later one.
  void cancel() { conversations_.cancel(); }

  [[nodiscard]] const Endpoint& endpoint() const { return endpoint_; }

 private:
  Endpoint endpoint_;
  boost::asio::ssl::context tls_;
  outbound::Conversations conversations_;
};

}  // namespace traceweir::s3
