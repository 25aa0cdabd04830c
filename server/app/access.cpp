#include "server/app/access.hpp"

#include <sys/resource.h>

#include <utility>

#include "server/app/log.hpp"

namespace traceweir::app {
namespace {

/// One that fails again and again for the same reason is said once.
void renew(http::Tls& tls, std::string& said) {
  const auto renewed = tls.reload_if_changed();
  if (renewed && *renewed) log(LogLevel::info, "certificate_renewed");
  const std::string failure = renewed ? "" : renewed.error().message;
  if (!failure.empty() && failure != said)
    log(LogLevel::error, "certificate_not_renewed", {{"detail", failure + "; the former one stays in use"}});
  said = failure;
}

}  // namespace

Result<Access> access_of(const Config& config) {
  Access access;
  if (!config.tls_certificate.empty()) {
    TRACEWEIR_TRY(tls, http::Tls::open({config.tls_certificate, config.tls_key}));
    access.tls = std::move(tls);
  }
  TRACEWEIR_TRY(proxies, http::Networks::parse(config.trusted_proxies));
  access.trusted_proxies = std::move(proxies);
  oidc::IssuerSettings settings = config.oidc;
  if (settings.rules.audience.empty()) settings.rules.audience = config.public_url;
  TRACEWEIR_TRY(issuers, oidc::Issuers::open(settings));
  access.issuers = std::move(issuers);
  return access;
}

void forbid_core_dumps() {
  const rlimit none{0, 0};
  if (::setrlimit(RLIMIT_CORE, &none) != 0) log(LogLevel::warning, "core_dumps_not_forbidden");
}

std::unique_ptr<Periodic> renewal_of(http::Tls* tls, std::chrono::milliseconds pause) {
  if (tls == nullptr) return nullptr;
  return std::make_unique<Periodic>("certificate", pause, [tls, said = std::string()]() mutable { renew(*tls, said); });
}

}  // namespace traceweir::app
