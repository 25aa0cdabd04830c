// For: the street, top to bottom, and the queue of runs that walk it. The only place that knows every stage.
// Not for: HTTP (server/api) or what a stage does.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "analyzer/core/error.hpp"
#include "server/analysis/analysis.hpp"
#include "server/meters/meters.hpp"
#include "server/pipeline/completion.hpp"
#include "server/pipeline/early_report.hpp"
#include "server/pipeline/notice.hpp"
#include "server/pipeline/workers.hpp"
#include "server/spool/blob_store.hpp"
#include "server/store/store.hpp"

namespace traceweir::pipeline {

/// What the stages need. Everything is owned by the app and outlives the pipeline.
struct Stages {
  const analysis::Analysis& analysis;
  spool::BlobStore& blobs;
  store::Store& store;
  meters::Meters& meters;
  std::function<store::Timestamp()> now;
  OnNotice on_notice{};  ///< empty: nobody wants to know
  std::string build{};   ///< of this service: whose verdicts are equal to the bit
};

/// How the traces of a run are read: what its uploads say, else what its policy says.
/// Errors: bad_policy.
Result<analysis::AnalysisOptions> reading_for(const store::Project& project, const store::RunHead& head);

/// Takes one upload of a run of several, and writes how many ranks it holds, or why it is rejected. Tells how the run
/// stands then: `analysing` where it is complete, and to be taken by run_pipeline.
/// `early`: a report made while the upload arrived, used where it was read the same way; nothing: the blob is read.
/// Errors: as run_pipeline: the upload stays `received` and may be taken again.
/// Thread: blocks; call it from a worker.
Result<store::RunStatus> upload_pipeline(const Stages& stages, const std::string& project, const std::string& run,
                                         std::int64_t rank, EarlyReport* early = nullptr);

/// Takes a run that the store knows, whose blobs are kept, and writes its result: judged, or rejected with the reason.
/// `early`: as above, of a run of one upload.
/// Errors: store_unavailable, disk_full, io_failed, not_found: the run stays unfinished and may be taken again.
/// Thread: blocks; call it from a worker.
Result<void> run_pipeline(const Stages& stages, const std::string& project, const std::string& run,
                          EarlyReport* early = nullptr);

/// How often a run is tried where the service itself is at fault, before it is rejected.
inline constexpr int tries_max = 3;

/// Runs on their way. A run is on its way once, however often it is asked for. One that fails for the service's own
/// reasons stays unfinished and is to be submitted again (server/app); after tries_max it is rejected with the reason.
/// Thread: share freely.
class RunQueue {
 public:
  using OnError = std::function<void(const std::string& run, const Error& error)>;

  RunQueue(Stages stages, Workers& workers, OnError on_error);

  /// Whether one more run would be taken now, so that an upload can be refused before it is sent.
  /// Errors: queue_full.
  [[nodiscard]] Result<void> check_room() const { return workers_.check_room(); }

  /// Runs that wait or are on their way, and how many uploads may.
  [[nodiscard]] std::size_t depth() const { return workers_.depth(); }
  [[nodiscard]] std::size_t depth_max() const { return workers_.depth_max(); }

  /// Puts the run into the queue, or joins it where it is on its way already. A run that the store knows is always
  /// taken.
  std::shared_ptr<Completion> submit(const std::string& project, const std::string& run,
                                     std::shared_ptr<EarlyReport> early = nullptr);

  /// Begins to analyse an upload that is being written to `file`. Nothing: no worker is idle, or it cannot be done; the
  /// upload is analysed when it is there.
  std::shared_ptr<EarlyReport> begin_early(const std::filesystem::path& file, const analysis::AnalysisOptions& reading);

  /// The same for one upload of a run of several; a run that is complete by it is put into the queue before its
  /// completion.
  std::shared_ptr<Completion> submit_upload(const std::string& project, const std::string& run, std::int64_t rank,
                                            std::shared_ptr<EarlyReport> early = nullptr);

  /// Reads a file that is of no run, on a worker as a run's would be; nothing is recorded, and the file stays the
  /// caller's. `file` and `reading` must live until it is done.
  /// Errors: queue_full, and those of Analysis::report_of.
  boost::asio::awaitable<Result<report::Report>> look_at(const analysis::InputFile& file,
                                                         const analysis::AnalysisOptions& reading);

 private:
  /// A run, or one upload of it.
  struct Job {
    std::string project, run;
    std::optional<std::int64_t> rank;
    std::shared_ptr<EarlyReport> early;  ///< a job is a function that can be copied, so that it shares it with none
    [[nodiscard]] std::string name() const;
  };

  std::shared_ptr<Completion> put(Job job);
  void take(const Job& job);
  Result<void> walk(const Job& job);
  void settle(const Job& job, const Error& error);
  Result<void> give_up(const Job& job, const Error& error);

  Stages stages_;
  Workers& workers_;
  OnError on_error_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Completion>> on_their_way_;
  std::map<std::string, int> failures_;  ///< of jobs that are tried again
};

}  // namespace traceweir::pipeline
