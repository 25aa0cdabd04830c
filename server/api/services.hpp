// For: what handlers may use, in one value. Everything in it is owned by the app and outlives every request.
// Not for: making any of it (server/app).
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include "sandbox/sandbox.hpp"
#include "server/http/body.hpp"
#include "server/http/problem.hpp"
#include "server/http/request.hpp"
#include "server/http/response.hpp"
#include "server/meters/meters.hpp"
#include "server/oidc/issuers.hpp"
#include "server/pipeline/keeping.hpp"
#include "server/pipeline/run_queue.hpp"
#include "server/pipeline/workers.hpp"
#include "server/spool/blob_store.hpp"
#include "server/spool/spool.hpp"
#include "server/store/store.hpp"

namespace traceweir::api {

/// Limits of the API itself; those of a connection are http::HttpLimits. Names as in docs/operations.md.
struct ApiLimits {
  std::chrono::seconds wait_default{100};  ///< how long POST waits for a verdict where the client does not say
  std::chrono::seconds wait_max{600};
  std::uint64_t stream_rate_min = std::uint64_t{1}
                                  << 20;  ///< bytes per second from which an upload is analysed while it arrives
  std::size_t small_body_bytes_max = std::size_t{1} << 20;  ///< bodies that are no traces: policies, settings
  std::int64_t page_runs_max = 200;
  std::int64_t ranks_max = 64;  ///< of a run; more would not fit into report::report_bytes_max
  std::int64_t history_points_max = 10'000;
  std::int64_t backtest_runs_max = 10'000;
  std::chrono::seconds oidc_issued_time_max{900};  ///< life of a token that a CI job gets for its id token
  pipeline::KeepingLimits keeping{};               ///< retention and quota of projects that set none
};

struct Services {
  store::Store& store;
  const spool::Spool& spool;
  spool::BlobStore& blobs;
  pipeline::Workers& workers;    ///< for short blocking work: SQL
  pipeline::Workers& transfers;  ///< for blobs: a place that is slow holds up nobody who only asks
  pipeline::RunQueue& runs;      ///< for analyses
  pipeline::Workers& trials;     ///< for work of seconds that nobody's verdict waits for
  pipeline::Workers& exchanges;  ///< for what may wait for an issuer's answer
  const oidc::Issuers& issuers;
  meters::Meters& meters;
  ApiLimits limits;
  std::function<store::Timestamp()> now;
  std::function<std::string()> new_id;
  sandbox::Parts sandbox;  ///< what every analysing child is locked in with
  std::string build{};     ///< of this service: whose verdicts are equal to the bit
};

/// A handler that blocks: it is run on a worker and answers there. Errors become problems.
using BlockingHandler = Result<http::Response> (*)(const http::Request&, Services&);

/// Makes a route's handler out of a blocking one.
template <BlockingHandler handle>
boost::asio::awaitable<http::Response> on_worker(http::Request& request, Services& services) {
  auto work = [&request, &services] { return handle(request, services); };  // named: GCC bug 107288
  auto response = co_await services.workers.run(work);
  if (!response) co_return http::problem(std::move(response).error());
  co_return *std::move(response);
}

/// The same for one that moves blobs.
template <BlockingHandler handle>
boost::asio::awaitable<http::Response> on_transfer(http::Request& request, Services& services) {
  auto work = [&request, &services] { return handle(request, services); };
  auto response = co_await services.transfers.run(work);
  if (!response) co_return http::problem(std::move(response).error());
  co_return *std::move(response);
}

/// A handler that reads a small body first and then blocks. `admit` is asked before a byte of the body is read.
using BlockingBodyHandler = Result<http::Response> (*)(const http::Request&, const std::string& body, Services&);
using Admission = Result<void> (*)(const http::Request&, Services&);

template <Admission admit, BlockingBodyHandler handle>
boost::asio::awaitable<http::Response> on_worker_with_body(http::Request& request, Services& services) {
  auto admission = [&request, &services] { return admit(request, services); };
  if (auto admitted = co_await services.workers.run(admission); !admitted)
    co_return http::problem(std::move(admitted).error());
  auto body = co_await http::read_small(*request.body, services.limits.small_body_bytes_max);
  if (!body) co_return http::problem(std::move(body).error());
  auto work = [&request, &services, &body] { return handle(request, *body, services); };
  auto response = co_await services.workers.run(work);
  if (!response) co_return http::problem(std::move(response).error());
  co_return *std::move(response);
}

inline constexpr std::string_view json_type = "application/json";

}  // namespace traceweir::api
