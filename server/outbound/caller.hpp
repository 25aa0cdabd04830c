// For: one HTTP request to somebody whom the operator named, by http:// or https:// (verified against the system's
// authorities), with a limit of time and of bytes, that can be broken off. No redirect is followed, and no address is
// called that may_be_called() refuses, whatever the name resolves to.
// Not for: what is sent, or trying again.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/core/error.hpp"
#include "server/outbound/address.hpp"
#include "server/outbound/conversations.hpp"

namespace traceweir::outbound {

struct Call {
  enum class Verb { get, post } verb = Verb::get;
  std::string body;  ///< JSON, of a POST
  std::vector<std::pair<std::string, std::string>> headers{};
  std::size_t answer_bytes_max = 0;  ///< of the answer's body; 0: only its head is read
};

struct CallAnswer {
  unsigned status = 0;
  std::string body{};
};

/// Thread: send() on one thread; cancel() from any.
class Caller {
 public:
  explicit Caller(Address address) : address_(std::move(address)) {}

  /// Errors: unreachable: no connection, an address that may not be called, no valid certificate, no HTTP, an answer
  ///         that is too large, out of time, broken off.
  Result<CallAnswer> send(const Call& call, std::chrono::milliseconds limit);

  /// Breaks off the call that runs, and every later one.
  void cancel() { conversations_.cancel(); }

  [[nodiscard]] const Address& address() const { return address_; }

 private:
  Address address_;
  Conversations conversations_;
};

}  // namespace traceweir::outbound
