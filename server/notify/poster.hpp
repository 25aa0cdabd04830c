// For: one POST to one address, with a limit of time, that can be broken off. No redirect is followed and no answer is
// read beyond its head. Not for: what is sent, or trying again (webhook.hpp).
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/core/error.hpp"

namespace traceweir::notify {

/// Where notices go: one host, by http:// or https://.
struct Address {
  enum class Scheme { http, https } scheme = Scheme::http;
  std::string host, port;
  std::string target;  ///< path and query

  /// For logs and people: without the path, which may be a secret (`https://hooks.example.com/***`).
  [[nodiscard]] std::string shown() const;
};
/// Errors: bad_config, saying what was expected; user names, passwords and fragments are refused. The text itself is in
///         no message: it may be a secret.
Result<Address> address_of(std::string_view url);

struct Post {
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
};

/// Thread: send() on one thread; cancel() from any.
class Poster {
 public:
  explicit Poster(Address address) : address_(std::move(address)) {}

  /// The status of the answer.
  /// Errors: unreachable: no connection, no valid certificate, no HTTP, out of time, broken off.
  Result<unsigned> send(const Post& post, std::chrono::milliseconds limit);

  /// Breaks off the send that runs, and every later one.
  void cancel();

  [[nodiscard]] const Address& address() const { return address_; }

 private:
  Address address_;
  std::mutex mutex_;
  bool cancelled_ = false;
  boost::asio::io_context* running_ = nullptr;
};

}  // namespace traceweir::notify
