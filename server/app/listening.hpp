// For: listeners as the configuration says: its limits and TLS; every answer is counted and logged.
// Not for: what answers (server/api), which addresses there are (config.hpp).
#pragma once

#include <string>
#include <string_view>

#include "analyzer/core/error.hpp"
#include "server/app/access.hpp"
#include "server/app/config.hpp"
#include "server/http/listener.hpp"
#include "server/meters/meters.hpp"

namespace traceweir::app {

/// A key whose value is an address, with that value.
struct ListenKey {
  std::string_view name;
  std::string value;
};

/// A listener, and where it listens: with the port that it got where any was asked for.
struct Listening {
  http::Listener listener;
  std::string where;
};

/// `access` and `meters` outlive it.
/// Errors: bad_config, naming the key: the address is none, or the port is taken or not ours to take.
Result<Listening> listen_on(const ListenKey& key, const Config& config, const Access& access, http::Handler handler,
                            meters::Meters& meters);

}  // namespace traceweir::app
