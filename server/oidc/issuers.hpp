// For: who is believed about CI jobs: the issuers that the operator named, and from an id token to its job.
// Not for: what the job may do (server/api).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/oidc/job.hpp"
#include "server/oidc/key_ring.hpp"

namespace traceweir::oidc {

/// Whether keys may come over http: only from this host, and only for tests.
enum class PlainHttp { never, loopback };

struct IssuerSettings {
  std::vector<std::string> github, gitlab;  ///< URLs, as they stand in `iss`
  PlainHttp plain_http = PlainHttp::never;
  ClaimRules rules;
  KeyRingTimes times;
};

/// Thread: any; calls may block as long as a fetch takes.
class Issuers {
 public:
  /// Errors: bad_config: a URL that is no https:// URL of a host, an issuer that is named twice, or issuers without an
  ///         audience.
  static Result<Issuers> open(const IssuerSettings& settings);

  [[nodiscard]] bool empty() const { return issuers_.empty(); }
  [[nodiscard]] bool know(std::string_view issuer) const;

  /// The job that the token was made for.
  /// Errors: unauthorized (saying why), unreachable (its issuer's keys cannot be had).
  [[nodiscard]] Result<Job> job_of(std::string_view id_token, Time now) const;

 private:
  struct Issuer {
    std::string url;
    Ci ci;
    std::unique_ptr<KeyRing> keys;
  };

  /// Errors: bad_config.
  Result<void> add(const std::string& url, Ci ci, const IssuerSettings& settings);

  ClaimRules rules_;
  std::vector<Issuer> issuers_;
};

}  // namespace traceweir::oidc
