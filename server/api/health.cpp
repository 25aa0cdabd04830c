#include <fmt/format.h>

#include <algorithm>

#include "analyzer/core/version.hpp"
#include "server/api/handlers.hpp"
#include "server/http/problem.hpp"
#include "server/spool/room.hpp"
#include "server/wire/json.hpp"

namespace traceweir::api {
namespace {

/// Of the disks that uploads come to.
Result<void> check_disks(const Services& services) {
  TRACEWEIR_TRY_VOID(services.spool.check_headroom());
  return spool::check_room(services.blobs, 0, services.spool.limits().disk_headroom_bytes);
}

/// Of the fuller one. 0: not to be asked.
std::uint64_t free_disk_bytes(const Services& services) {
  const auto blobs = services.blobs.own_disk();
  const std::uint64_t arriving = services.spool.free_bytes().value_or(0);
  return blobs ? std::min(arriving, spool::free_bytes_of(*blobs).value_or(0)) : arriving;
}

}  // namespace

/// GET /healthz
/// 200: the process answers. Asks nothing of the store, so that a slow database does not get the service killed.
boost::asio::awaitable<http::Response> get_health(http::Request&, Services&) {
  co_return http::respond(http::Status::ok, json_type, wire::dump({{"status", "ok"}, {"version", version}}));
}

/// GET /readyz
/// 200 every part can work | 503 which cannot, and why
Result<http::Response> get_ready(const http::Request&, Services& services) {
  const auto state = [](const Result<void>& part) {
    return part ? std::string("ok") : http::public_detail(part.error());
  };
  const Result<void> store = services.store.ready();
  const Result<void> disk = check_disks(services);
  const Result<void> blobs = services.blobs.ready();
  const bool ready = store && disk && blobs;
  const int landlock = services.sandbox.landlock_abi;
  const wire::Json json = {
      {"status", ready ? "ready" : "not_ready"},
      {"store", state(store)},
      {"disk", state(disk)},
      {"blobs", state(blobs)},
      {"sandbox",
       {{"seccomp", services.sandbox.seccomp},
        {"landlock", landlock == 0 ? wire::Json(false) : wire::Json(fmt::format("abi {}", landlock))}}}};
  auto response = http::respond(ready ? http::Status::ok : http::Status::unavailable, json_type, wire::dump(json));
  return ready ? response : response.set("Retry-After", "5");
}

/// GET /metrics
/// 200 the service's counters, for Prometheus. Names no project and no user, so that it needs no token.
Result<http::Response> get_metrics(const http::Request& request, Services& services) {
  TRACEWEIR_TRY_VOID(request.query.only({}));
  meters::Levels now;
  now.store_ready = services.store.ready().has_value();
  now.disk_free_bytes = free_disk_bytes(services);
  now.disk_headroom_bytes = services.spool.limits().disk_headroom_bytes;
  now.queue_depth = services.runs.depth().value_or(0);
  now.queue_depth_max = services.runs.depth_max();
  now.requests_waiting = services.workers.depth();
  return http::respond(http::Status::ok, meters::text_type, services.meters.text(now));
}

}  // namespace traceweir::api
