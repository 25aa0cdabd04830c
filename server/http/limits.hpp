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
  std::size_t connections_per_address_max = 256;  ///< trusted proxies are not counted

  /// A bucket per address: so many requests a second, and requests_burst_seconds' worth of them at once. 0: no limit.
  std::uint32_t requests_per_address_max = 200;
  /// Requests a minute of one address with a token that is not valid; half of them at once.
  std::uint32_t failed_authentications_max = 20;

  std::chrono::milliseconds handshake_time_max{10'000};  ///< of TLS
  std::chrono::milliseconds header_time_max{10'000};     ///< from the first byte of a request to its empty line
  std::chrono::milliseconds idle_time_max{30'000};       ///< between requests, and before the first

  /// Bodies, both ways: a client that is slower than this, averaged over body_grace, is dropped.
  std::uint64_t body_rate_min = 16 * 1024;  ///< bytes per second
  std::chrono::milliseconds body_grace{30'000};
  std::chrono::milliseconds body_time_max{4 * 3'600'000};  ///< one body in all, however fast it is

  /// An answer that comes before the body was read: how much more is read and thrown away, so that the client sees the
  /// answer instead of a reset connection.
  std::size_t linger_bytes_max = 64 * 1024 * 1024;
  std::chrono::milliseconds linger_time_max{5'000};
};

/// How many seconds' worth of requests an address may send at once: a browser opens a page, a CI starts its jobs.
inline constexpr std::uint32_t requests_burst_seconds = 10;

/// Addresses that are remembered; of more, those that were not seen for longest are forgotten.
inline constexpr std::size_t addresses_max = 16'384;

}  // namespace traceweir::http
