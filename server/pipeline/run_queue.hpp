// For: taking jobs from the store's queue and doing them, here and in as many other processes as work on the store; and
// waiting for jobs, wherever they are done. Not for: the stages of an analysis (run_pipeline.hpp).
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include "analyzer/core/error.hpp"
#include "server/pipeline/claims.hpp"
#include "server/pipeline/completion.hpp"
#include "server/pipeline/early_report.hpp"
#include "server/pipeline/run_pipeline.hpp"
#include "server/pipeline/settlements.hpp"
#include "server/pipeline/watchers.hpp"
#include "server/pipeline/workers.hpp"

namespace traceweir::pipeline {

/// How often a job is tried where its upload is not at fault: then its run is rejected with the reason. Processes that
/// end while they hold it count, too, but less (server/store/strikes.hpp).
inline constexpr int tries_max = 3;

struct QueueSettings {
  std::string process{};                    ///< what no other process on the store calls itself
  std::chrono::milliseconds lease{};        ///< of a claim, after which a process counts as dead
  std::chrono::milliseconds retry_pause{};  ///< after a try that failed for the service's own reasons
  std::size_t depth_max = 0;                ///< jobs of all processes; one more upload is refused
  enum class Analyses { here, elsewhere } analyses = Analyses::here;
};

/// Thread: share freely.
class RunQueue {
 public:
  /// `run` is empty where the queue itself cannot be reached: that is told once each time. `code`: the word that it is
  /// counted under.
  using OnError = std::function<void(const std::string& run, std::string_view code, const std::string& detail)>;

  RunQueue(Stages stages, Workers& workers, QueueSettings settings, OnError on_error);
  RunQueue(const RunQueue&) = delete;
  RunQueue& operator=(const RunQueue&) = delete;
  ~RunQueue();

  /// From now on jobs are taken, and claims renewed. Once.
  void start();
  /// No further job is taken, unless somebody waits here; those that are being done go on.
  void take_no_more();
  /// Wakes everybody who waits for a job, done or not.
  void wake_all();
  /// Ends for good. Call it when the workers have stopped: what they held is given back by then.
  void stop();

  /// Whether one more upload would be taken now, so that it can be refused before it is sent. Blocks.
  /// Errors: queue_full, and what the store says.
  [[nodiscard]] Result<void> check_room() const;
  /// Jobs of all processes that wait or are being done, and how many may. Blocks. Errors: what the store says.
  [[nodiscard]] Result<std::size_t> depth() const;
  [[nodiscard]] std::size_t depth_max() const { return settings_.depth_max; }

  /// Begins to analyse an upload of this project that is being written to `file`. Nothing: no worker is idle, or it
  /// cannot be done; the upload is analysed when it is there.
  std::shared_ptr<EarlyReport> begin_early(std::string project, const std::filesystem::path& file,
                                           const analysis::AnalysisOptions& reading);
  /// What an upload's job is recorded with: a claim of this process where its report is being made here, else none.
  store::Claim claim_for(const std::shared_ptr<EarlyReport>& early);
  /// A job was recorded in this claim: it is done here, with that report. Done when watch() would be.
  std::shared_ptr<Completion> take(store::Job job, std::shared_ptr<EarlyReport> early);
  /// The claim came to nothing, or nobody knows. Blocks.
  void give_back(const store::Claim& claim);
  /// Jobs were recorded that are in no claim: whoever is idle takes them, here or elsewhere.
  void poke();

  /// Done when the run, or with a rank this upload of it, waits for its analysis no more.
  std::shared_ptr<Completion> watch(const std::string& run, std::optional<std::int64_t> rank = std::nullopt);

  /// Reads a file that is of no run, on a worker as a run's would be; nothing is recorded, and the file stays the
  /// caller's. `file` and `reading` must live until it is done.
  /// Errors: queue_full, and those of Analysis::report_of.
  boost::asio::awaitable<Result<report::Report>> look_at(const analysis::InputFile& file,
                                                         const analysis::AnalysisOptions& reading);

 private:
  enum class Next { done, again };

  void go_round();
  void look();
  Result<void> claim();
  Result<void> look_after_watchers();
  bool is_waited_for() { return !watchers_.watched().empty(); }
  bool may_claim();
  bool may_look();
  void say_done();
  void wait();
  void submit(store::Job job, std::shared_ptr<EarlyReport> early);
  /// A job that is on its way: its project's series may be settled once for it and others.
  using OnItsWay = std::shared_ptr<std::optional<Settlements::Coming>>;

  void settle_overdue();
  void work(const store::Job& job, EarlyReport* early, std::optional<Settlements::Coming>& coming);
  Result<void> walk(const store::Job& job, EarlyReport* early);
  Next settle(const store::Job& job, const Error& error);
  void tell(const std::string& run, const Error& error);
  Result<void> give_up(const store::Job& job, const Error& error);

  Settlements settlements_;
  RecentRuns recent_;
  Stages stages_;
  Workers& workers_;
  QueueSettings settings_;
  OnError on_error_;
  Claims claims_;
  Watchers watchers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool poked_ = false, takes_ = false, ended_ = false;
  bool may_wait_ = true;  ///< a job that is in no claim; false: there was none, and nobody has said so since
  std::chrono::steady_clock::time_point looked_{};  ///< after those who wait
  bool away_ = false;                               ///< the store, at the last look
  std::set<std::string> ours_;                      ///< jobs that are done here: who waits for them is told then
  std::unique_ptr<store::Bell> bell_;
  std::thread thread_;
};

}  // namespace traceweir::pipeline
