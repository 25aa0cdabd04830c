#include "server/app/monitoring.hpp"

#include <chrono>
#include <utility>

#include "server/api/routes.hpp"
#include "server/app/analysts.hpp"
#include "server/spool/uuid.hpp"

namespace traceweir::app {
namespace {

/// Whoever scrapes asks now and then; one more thread, so that a slow answer holds up no probe.
constexpr unsigned monitoring_threads = 2;
constexpr std::size_t questions_waiting_max = 64;
/// For an answer that is on its way when the worker ends.
constexpr std::chrono::milliseconds last_answer_max{1000};

}  // namespace

Result<std::unique_ptr<Monitoring>> Monitoring::open(const Watched& watched) {
  if (watched.config.worker_listen.empty()) return nullptr;
  TRACEWEIR_TRY(access, access_of(watched.config));
  std::unique_ptr<Monitoring> monitoring(new Monitoring(watched, std::move(access)));
  const http::Router router(api::monitoring_routes(), monitoring->services_);
  TRACEWEIR_TRY(listening, listen_on({"worker_listen", watched.config.worker_listen}, watched.config,
                                     monitoring->access_, router, watched.meters));
  monitoring->listening_ = std::move(listening);
  monitoring->renewal_ = renewal_of(monitoring->access_.tls.get(), watched.config.tls_reload_pause);
  monitoring->thread_ = std::jthread([&listener = monitoring->listening_->listener] { listener.run(1); });
  return monitoring;
}

// Whatever the three routes do not ask for is there as well, since handlers get one value: it is asked nothing.
Monitoring::Monitoring(const Watched& watched, Access access)
    : access_(std::move(access)),
      crew_("questions of monitoring", monitoring_threads, questions_waiting_max),
      services_{watched.store,      watched.spool, watched.blobs,   crew_,           crew_,
                watched.runs,       crew_,         crew_,           access_.issuers, watched.meters,
                watched.config.api, now,           spool::new_uuid, watched.sandbox} {}

Monitoring::~Monitoring() {
  if (thread_.joinable()) {
    listening_->listener.stop(last_answer_max);
    thread_.join();
  }
  crew_.stop();
}

}  // namespace traceweir::app
