// For: talking to the service over HTTP: one request, one answer, errors as values.
// Not for: what is in the documents (server/wire).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/core/error.hpp"
#include "cli/body_source.hpp"
#include "cli/proxy.hpp"

namespace traceweir::cli {

/// Where the service is. Only http:// and https:// URLs.
struct ServiceUrl {
  enum class Scheme { http, https } scheme = Scheme::http;
  std::string host;
  std::string port;
  std::string base;  ///< path in front of every path, without a slash at the end
};
/// Errors: usage, saying what was expected.
Result<ServiceUrl> service_url(std::string_view text);

struct ClientRequest {
  std::string method = "GET";
  std::string path;  ///< with its query
  std::vector<std::pair<std::string, std::string>> headers;
  std::string file;  ///< sent as the body; empty: `text` is
  std::string text;
  Packing packing = Packing::as_is;  ///< what is packed is sent in chunks: its length is not known beforehand
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;  ///< of the file's bytes; may be empty
};

struct ClientAnswer {
  unsigned status = 0;
  std::string body;
  std::chrono::seconds retry_after{0};  ///< what the service asks for; 0: nothing
};

/// Sends requests one after the other.
class Client {
 public:
  Client(ServiceUrl url, std::string token, std::optional<Proxy> proxy, std::chrono::seconds retry_time_max);

  /// The same, with another token.
  [[nodiscard]] Client with_token(std::string token) const;

  /// Errors: unreachable (no connection, cut off, no HTTP, or the file cannot be read), usage (a token or header that
  ///         cannot be sent).
  ///         An answer with an error status is an answer.
  [[nodiscard]] Result<ClientAnswer> send(const ClientRequest& request) const;

  /// The body of a successful answer.
  /// Errors: those of send(); the service's problem by its word; unreachable for 502, 503 and 504 of anybody on the
  /// way.
  [[nodiscard]] Result<std::string> get(std::string path) const;

  /// Where a person looks at something. Shape: the service's URL with `path` behind it.
  [[nodiscard]] std::string address_of(std::string_view path) const;

  /// For how long whoever is patient tries again (patience.hpp).
  [[nodiscard]] std::chrono::seconds retry_time_max() const { return retry_time_max_; }

 private:
  ServiceUrl url_;
  std::string token_;
  std::optional<Proxy> proxy_;
  std::chrono::seconds retry_time_max_;
};

/// The error that an answer stands for. The service's word where it sent one; else by the status.
Error error_of(const ClientAnswer& answer);

}  // namespace traceweir::cli
