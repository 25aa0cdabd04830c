// For: an address and a port to listen on, as operators write them. Not for: listening there (listening.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analyzer/core/error.hpp"

namespace traceweir::app {

struct Endpoint {
  std::string address;  ///< numeric
  std::uint16_t port;   ///< 0: one that is free
};

/// `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080` (127.0.0.1), `:8080` (every IPv4 address).
/// Errors: bad_config, saying what was expected; the caller adds the key.
Result<Endpoint> endpoint_of(std::string_view text);

/// As it is read.
std::string to_text(const Endpoint& endpoint);

}  // namespace traceweir::app
