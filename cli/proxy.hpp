// For: whether a proxy stands between us and the service: HTTPS_PROXY and NO_PROXY, as curl reads them.
// Not for: talking through it (connection_stream.hpp).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analyzer/core/error.hpp"
#include "cli/ci_facts.hpp"

namespace traceweir::cli {

struct Proxy {
  std::string host, port;
  std::string credentials;  ///< `Basic …` for Proxy-Authorization; empty: none
};

/// The proxy for an https service at `host`:`port`, by `https_proxy` or `HTTPS_PROXY`, unless `no_proxy` or `NO_PROXY`
/// names the host (`*`, names, `.suffix`, IP addresses and IPv4 ranges, each with or without a port). Errors: usage:
/// the variable is no http:// address (credentials are not repeated).
Result<std::optional<Proxy>> https_proxy(const std::string& host, const std::string& port, const Variables& variables);

/// Whether a list such as `localhost,.corp.example,10.0.0.0/8` names the host.
bool is_named(std::string_view list, std::string_view host, std::string_view port);

}  // namespace traceweir::cli
