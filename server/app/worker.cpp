#include "server/app/worker.hpp"

#include <fmt/format.h>

#include <condition_variable>
#include <memory>
#include <mutex>

#include "analyzer/core/version.hpp"
#include "server/app/analysts.hpp"
#include "server/app/blobs.hpp"
#include "server/app/build_id.hpp"
#include "server/app/log.hpp"
#include "server/app/monitoring.hpp"
#include "server/app/notices.hpp"
#include "server/app/periodic.hpp"
#include "server/app/presence.hpp"
#include "server/app/service.hpp"
#include "server/app/stopper.hpp"
#include "server/app/upkeep.hpp"
#include "server/spool/file.hpp"

namespace traceweir::app {
namespace {

/// Happens once.
class Signal {
 public:
  void give() {
    const std::lock_guard lock(mutex_);
    given_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return given_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool given_ = false;
};

Result<void> check(const Config& config) {
  if (!config.analysis_workers) return fail(ErrorCode::bad_config, "analysis_workers = none: a worker only analyses");
  if (store::is_shared(config.store_url())) return {};
  return fail(ErrorCode::bad_config, "store: a worker needs one that several processes may use: postgresql://");
}

}  // namespace

Result<void> work(const Config& config) {
  // 1. What lasts: the store and the traces, which other processes use, too.
  TRACEWEIR_TRY_VOID(check(config));
  block_stop_signals();
  TRACEWEIR_TRY_VOID(spool::make_folder(config.data_dir));
  TRACEWEIR_TRY(store, store::open_store(config.store_url(), store::Opening::service));
  TRACEWEIR_TRY(blobs, open_blobs_of(*store, config));
  TRACEWEIR_TRY(spool, spool::Spool::open(config.data_dir, config.spool));  // where copies of traces arrive
  TRACEWEIR_TRY(presence, appear(config, *store));
  meters::Meters meters;

  // 2. What works.
  TRACEWEIR_TRY(program, program_of(config));
  analysis::Analysis analysis(program, config.analysis, config.data_dir + "/spool/scratch");
  TRACEWEIR_TRY(sandbox, settle_sandbox(analysis, config));
  TRACEWEIR_TRY(webhook, webhook_of(config));
  Notices notices(std::move(webhook), config.public_url, meters);
  const auto on_notice = [&notices](const pipeline::Notice& notice) { notices.tell(notice); };
  pipeline::Workers analysts("uploads to be analysed", analysis_threads(config), config.queue_depth_max);
  pipeline::RunQueue runs(pipeline::Stages{analysis, *blobs, *store, meters, now, on_notice, build_id()}, analysts,
                          queue_settings(config, presence.name()), log_run_error);
  TRACEWEIR_TRY(monitoring, Monitoring::open({config, *store, spool, *blobs, runs, meters, sandbox}));
  log(LogLevel::info, "worker_started",
      {{"version", version},
       {"worker_listen", monitoring ? monitoring->where() : ""},
       {"data_dir", config.data_dir},
       {"analysis_workers", fmt::format("{}", analysis_threads(config))},
       {"sandbox", sandbox::describe(sandbox)}});

  // 3. Until a signal. Nobody waits for an answer, so what is being analysed goes back to the queue at once.
  Signal ended;
  const auto nothing = [] {};
  const Stopper stopper({[&] { ended.give(); }, nothing, nothing, &abandon, config.stop_time_max, abandon_time});
  runs.start();
  const Periodic upkeep("upkeep", upkeep_pause, [&spool] { sweep_left_overs(spool); });
  ended.wait();
  runs.take_no_more();
  analysis.stop();
  blobs->stop();
  analysts.stop();
  runs.stop();
  monitoring.reset();
  notices.stop();
  log(LogLevel::info, "stopped");
  return {};
}

}  // namespace traceweir::app
