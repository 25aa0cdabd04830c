#include "server/app/service.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "analyzer/core/version.hpp"
#include "sandbox/sandbox.hpp"
#include "server/api/pages.hpp"
#include "server/api/remembered.hpp"
#include "server/api/routes.hpp"
#include "server/api/tokens.hpp"
#include "server/app/access.hpp"
#include "server/app/analysts.hpp"
#include "server/app/blobs.hpp"
#include "server/app/build_id.hpp"
#include "server/app/first_token.hpp"
#include "server/app/listening.hpp"
#include "server/app/log.hpp"
#include "server/app/notices.hpp"
#include "server/app/overdue.hpp"
#include "server/app/periodic.hpp"
#include "server/app/presence.hpp"
#include "server/app/stopper.hpp"
#include "server/app/upkeep.hpp"
#include "server/http/listener.hpp"
#include "server/spool/file.hpp"
#include "server/spool/uuid.hpp"

namespace traceweir::app {
namespace {

/// Threads for short blocking work. SQL and fsync wait for the disk, so a few more than cores help.
constexpr unsigned store_threads = 8;
/// The same for keeping and giving back blobs, which may lie behind a network.
constexpr unsigned transfer_threads = 8;
/// Handlers only move bytes and wait. A second thread keeps the others served while one writes to a slow disk.
constexpr unsigned network_threads = 2;
constexpr std::size_t requests_waiting_max = 1024;
/// A backtest takes a core for seconds: one at a time, and few that wait.
constexpr unsigned trial_threads = 1;
constexpr std::size_t trials_waiting_max = 4;
/// Jobs that exchange their id tokens wait for their issuer at most.
constexpr unsigned exchange_threads = 2;
constexpr std::size_t exchanges_waiting_max = 64;

/// What of uploads is a left-over when a service starts: all of it, unless others may be writing to the same folder.
std::chrono::seconds left_over_after(const Config& config) {
  return store::is_shared(config.store_url()) ? stale_after : std::chrono::seconds{0};
}

/// A store that is away is no news here: whoever asks is told so.
void close_overdue_runs(store::Store& store, pipeline::RunQueue& runs, std::chrono::seconds run_complete_max,
                        WaitingTimes& waiting) {
  waiting.look(now(), std::chrono::steady_clock::now());
  const auto done = close_overdue(store, runs, run_complete_max, waiting);
  if (!done && done.error().code != ErrorCode::store_unavailable)
    log(LogLevel::warning, "close_overdue_failed", {{"detail", done.error().message}});
}

/// Who works: analyses behind one queue; short blocking work, blobs, and what takes a core for seconds, each behind
/// another.
struct Crews {
  pipeline::Workers analysts, workers{"requests", store_threads, requests_waiting_max},
      transfers{"transfers", transfer_threads, requests_waiting_max},
      trials{"backtests", trial_threads, trials_waiting_max},
      exchanges{"exchanges of id tokens", exchange_threads, exchanges_waiting_max};
  explicit Crews(const Config& config)
      : analysts("uploads to be analysed", analysis_threads(config), config.queue_depth_max) {}
};

/// Ends what works: on every way out of serve() nothing may still run when the parts that it uses go.
struct EndOfWork {
  pipeline::RunQueue& runs;
  analysis::Analysis& analysis;
  spool::BlobStore& blobs;
  Crews& crews;
  /// Ends the analyses, and answers those who wait for them.
  void give_up_waiting() const {
    analysis.stop();
    blobs.stop();
    runs.wake_all();
  }
  void end() const {
    runs.take_no_more();
    give_up_waiting();
    crews.analysts.stop();
    runs.stop();
    for (pipeline::Workers* some : {&crews.workers, &crews.transfers, &crews.trials, &crews.exchanges}) some->stop();
  }
  ~EndOfWork() { end(); }
};

/// The analyses end a little before the connections, so that requests that wait for them are still answered (202).
std::chrono::milliseconds analysis_grace(std::chrono::milliseconds stop_time_max) {
  return stop_time_max - std::min(stop_time_max / 4, std::chrono::milliseconds{1000});
}

StopSteps stop_steps(const Config& config, http::Listener& listener, pipeline::RunQueue& runs,
                     const EndOfWork& end_of_work) {
  const auto grace = analysis_grace(config.stop_time_max);
  const auto stop = [&listener, &runs, time = config.stop_time_max] {
    runs.take_no_more();
    listener.stop(time);
  };
  return {stop,
          [&end_of_work] { end_of_work.give_up_waiting(); },
          [&listener] { listener.stop(std::chrono::milliseconds{1000}); },
          &abandon,
          grace,
          config.stop_time_max + abandon_time - grace};
}

/// Errors: those of make_first_token().
Result<void> make_admin_token(store::Store& store, const std::string& path) {
  TRACEWEIR_TRY(made, make_first_token(store, path, now()));
  if (made) log(LogLevel::info, "admin_token_written", {{"path", path}});
  return {};
}

void log_start(const Config& config, const std::string& listen, const sandbox::Parts& sandbox) {
  log(LogLevel::info, "started",
      {{"version", version},
       {"listen", listen},
       {"data_dir", config.data_dir},
       {"sandbox", sandbox::describe(sandbox)}});
}

/// The API, what those who watch ask, and the pages of the dashboard.
http::Router router_of(api::Services& services) {
  http::Router router(api::routes(), services);
  router.add_all(api::monitoring_routes(), services);
  router.add_all(api::page_routes(), services);
  return router;
}

/// The routes, and in front of them what was answered a moment ago.
http::Handler handler_of(api::Remembered& remembered) {
  return [&remembered](http::Request& request) { return remembered.answer(request); };
}

}  // namespace

Result<std::filesystem::path> program_of(const Config& config) {
  if (config.analysis_program.empty()) return analysis::program_beside_us();
  if (::access(config.analysis_program.c_str(), X_OK) != 0)
    return fail(ErrorCode::bad_config, "analysis_program = '" + config.analysis_program + "': cannot be run");
  return std::filesystem::path(config.analysis_program);
}

Result<void> serve(const Config& config) {
  forbid_core_dumps();
  TRACEWEIR_TRY(access, access_of(config));
  // 1. What lasts: folders, store, what an earlier life left behind.
  TRACEWEIR_TRY_VOID(spool::make_folder(config.data_dir));
  TRACEWEIR_TRY(store, store::open_store(config.store_url(), store::Opening::service));
  TRACEWEIR_TRY(spool, spool::Spool::open(config.data_dir, config.spool));
  TRACEWEIR_TRY(blobs, open_blobs_of(*store, config));
  TRACEWEIR_TRY_VOID(sweep_parts(spool, left_over_after(config)));
  TRACEWEIR_TRY_VOID(make_admin_token(*store, config.data_dir + "/admin-token"));
  TRACEWEIR_TRY(presence, appear(config, *store));
  meters::Meters meters;

  // 2. What works: analyses in children, behind one queue; short blocking work behind another.
  TRACEWEIR_TRY(program, program_of(config));
  analysis::Analysis analysis(program, config.analysis, config.data_dir + "/spool/scratch");
  TRACEWEIR_TRY(sandbox, settle_sandbox(analysis, config));
  TRACEWEIR_TRY(webhook, webhook_of(config));
  Notices notices(std::move(webhook), config.public_url, meters);
  const auto on_notice = [&notices](const pipeline::Notice& notice) { notices.tell(notice); };
  Crews crews(config);
  const std::string build = build_id();
  pipeline::RunQueue runs(pipeline::Stages{analysis, *blobs, *store, meters, now, on_notice, build}, crews.analysts,
                          queue_settings(config, presence.name()), log_run_error);
  const EndOfWork end_of_work{runs, analysis, *blobs, crews};

  // 3. What is seen: routes on a listener.
  api::Services services{*store,     spool,        *blobs,          crews.workers,  crews.transfers,
                         runs,       crews.trials, crews.exchanges, access.issuers, meters,
                         config.api, now,          spool::new_uuid, sandbox,        build};
  api::Remembered remembered(router_of(services));
  TRACEWEIR_TRY(listening, listen_on({"listen", config.listen}, config, access, handler_of(remembered), meters));
  http::Listener& listener = listening.listener;
  log_start(config, listening.where, services.sandbox);

  // 4. Until a signal: stop accepting, let requests finish, then stop the analyses that still run. Their jobs go back
  //    to the queue: another process takes them, or this one when it starts again.
  const Stopper stopper(stop_steps(config, listener, runs, end_of_work));  // until the end of everything
  {
    runs.start();
    WaitingTimes waiting;  // of runs, for their ranks
    const Periodic closer("close_overdue", config.resume_pause,
                          [&] { close_overdue_runs(*store, runs, config.run_complete_time_max, waiting); });
    std::atomic<bool> ended = false;
    const Household house{spool, *blobs, *store, config.api.keeping, now, [&ended] { return ended.load(); }};
    const Periodic upkeep("upkeep", upkeep_pause, [&house] { look_after(house); });
    const auto renewal = renewal_of(access.tls.get(), config.tls_reload_pause);
    listener.run(network_threads);
    ended = true, blobs->stop();  // so that no upkeep is waited for
  }
  end_of_work.end();  // before the listener goes: what a worker still holds belongs to the listener's threads
  notices.stop();
  log(LogLevel::info, "stopped");
  return {};
}

}  // namespace traceweir::app
