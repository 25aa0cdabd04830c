// For: where blobs are kept in an S3-compatible store, who we are there, and what one request may cost.
// Not for: the configuration's keys (server/app).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "analyzer/core/error.hpp"
#include "server/s3/signature.hpp"

namespace traceweir::s3 {

/// `s3://bucket/prefix`. Shape: the prefix has no slash at its ends and may be empty.
struct Place {
  std::string bucket, prefix;
};
/// Errors: bad_config, saying what was expected.
Result<Place> place_of(std::string_view text);

/// The one host that is spoken to, path style.
struct Endpoint {
  enum class Scheme { http, https } scheme = Scheme::https;
  std::string host, port;

  /// The Host header: without a default port.
  [[nodiscard]] std::string authority() const;
};
/// `https://HOST[:PORT]`, or `http://` where that was chosen. Errors: bad_config, saying what was expected: a path, a
/// user, an address that outbound::may_be_called() refuses.
Result<Endpoint> endpoint_of(std::string_view text);
/// AWS's own, where no endpoint is set.
Endpoint endpoint_of_region(std::string_view region);

/// Where credentials come from. The file is read for each request, so that they can be changed while the service runs.
struct CredentialSource {
  std::string file;         ///< of the AWS tools' kind, its section [default]; empty: none
  Credentials environment;  ///< without a file

  /// Errors: bad_config, naming what is missing; never what is there.
  [[nodiscard]] Result<Credentials> read() const;
};

/// Bounds of S3 itself. Source: AWS, "Amazon S3 multipart upload limits".
inline constexpr std::uint64_t part_bytes_min = std::uint64_t{5} << 20, parts_max = 10'000;

struct Settings {
  Place place;
  Endpoint endpoint;
  std::string region = "us-east-1";
  CredentialSource credentials;
  std::chrono::milliseconds time_max{60'000};              ///< of one try of one request
  unsigned tries_max = 4;                                  ///< of one request
  std::chrono::milliseconds pause{200};                    ///< before the second try; doubled before each further one
  std::uint64_t part_bytes = std::uint64_t{16} << 20;      ///< of what goes or comes in one request
  std::uint64_t cache_bytes_max = std::uint64_t{8} << 30;  ///< of copies on this machine
};

}  // namespace traceweir::s3
