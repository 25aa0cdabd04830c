#include "server/app/listening.hpp"

#include <fmt/format.h>

#include <utility>

#include "server/app/endpoint.hpp"
#include "server/app/log.hpp"
#include "server/spool/uuid.hpp"

namespace traceweir::app {

Result<Listening> listen_on(const ListenKey& key, const Config& config, const Access& access, http::Handler handler,
                            meters::Meters& meters) {
  const auto on_answer = [&meters](const http::AccessRecord& record) {
    meters.request({record.route, record.method, record.status, record.duration, record.bytes_in, record.bytes_out});
    log_access(record);
  };
  const auto about_key = [&key](const Error& error) {
    return fail(error.code, fmt::format("{}: {}", key.name, error.message));
  };
  auto endpoint = endpoint_of(key.value);
  if (!endpoint) return about_key(endpoint.error());
  auto listener = http::Listener::open({endpoint->address, endpoint->port, config.http, access.trusted_proxies,
                                        access.tls.get(), std::move(handler), spool::new_uuid, on_answer});
  if (!listener) return about_key(listener.error());
  endpoint->port = listener->port();
  return Listening{*std::move(listener), to_text(*endpoint)};
}

}  // namespace traceweir::app
