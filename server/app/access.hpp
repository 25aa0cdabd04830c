// For: how the service is reached and who is believed, from the configuration: TLS, proxies, issuers.
// Not for: the words of the configuration (config.hpp).
#pragma once

#include <memory>

#include "analyzer/core/error.hpp"
#include "server/app/config.hpp"
#include "server/app/periodic.hpp"
#include "server/http/addresses.hpp"
#include "server/http/tls.hpp"
#include "server/oidc/issuers.hpp"

namespace traceweir::app {

struct Access {
  std::unique_ptr<http::Tls> tls;  ///< null: plain HTTP
  http::Networks trusted_proxies;
  oidc::Issuers issuers;
};

/// Errors: bad_config, naming the key and what is wrong with it.
Result<Access> access_of(const Config& config);

/// From here on no crash of this process leaves its memory, and with it tokens, in a file.
void forbid_core_dumps();

/// Takes renewed certificates while it lives; null where there is no TLS. The log says what was taken, and what was
/// wrong with what could not be.
std::unique_ptr<Periodic> renewal_of(http::Tls* tls, std::chrono::milliseconds pause);

}  // namespace traceweir::app
