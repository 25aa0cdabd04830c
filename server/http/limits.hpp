// For: what one client may cost the service, as one value with the names that operators know (docs/operations.md).
// Not for: limits of what is in a body (spool, api).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace traceweir::http {

/// Every limit is enforced for every connection; none can be switched off.
struct HttpLimits {
  std::size_t header_bytes_max = 8 * 1024;  ///< request line and header fields together
  std::size_t header_count_max = 64;
  std::size_t target_bytes_max = 4 * 1024;
  std::size_t connections_max = 1024;

  std::chrono::milliseconds header_time_max{10'000};  ///< from the first byte of a request to its empty line
  std::chrono::milliseconds idle_time_max{30'000};    ///< between requests, and before the first

  /// Bodies, both ways: a client that is slower than this, averaged over body_grace, is dropped.
  std::uint64_t body_rate_min = 16 * 1024;  ///< bytes per second
  std::chrono::milliseconds body_grace{30'000};
  std::chrono::milliseconds body_time_max{4 * 3'600'000};  ///< one body in all, however fast it is

  /// An answer that comes before the body was read: how much more is read and thrown away, so that the client sees the
  /// answer instead of a reset connection.
  std::size_t linger_bytes_max = 64 * 1024 * 1024;
  std::chrono::milliseconds linger_time_max{5'000};
};

}  // namespace traceweir::http
