// For: runs that were acknowledged and have no result: after a restart, after a fault of the service or its database,
// and those that wait for ranks longer than they may. Not for: analysing them (server/pipeline).
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "server/pipeline/run_pipeline.hpp"
#include "server/store/store.hpp"

namespace traceweir::app {

struct ResumeTimes {
  std::chrono::milliseconds usual, away;  ///< until it looks again; `away`: after the database was out of reach
  std::chrono::seconds run_complete_max;  ///< how long a run waits for its ranks, from its first upload on
  std::function<store::Timestamp()> now{};
};

/// While it lives, it looks for such runs at once and then again and again, and puts them into the queue.
class Resumer {
 public:
  /// `store_was_away` is set by whoever met a database that was away, and taken back here: then it looks soon.
  Resumer(store::Store& store, pipeline::RunQueue& runs, ResumeTimes times, std::atomic<bool>& store_was_away);
  ~Resumer();
  Resumer(const Resumer&) = delete;
  Resumer& operator=(const Resumer&) = delete;

 private:
  void work();
  void look();
  void look_at(const store::RunRecord& run);
  bool wait();

  store::Store& store_;
  pipeline::RunQueue& runs_;
  ResumeTimes times_;
  std::atomic<bool>& store_was_away_;
  bool failed_ = false;  // the last look: only the first failure of several is said
  std::mutex mutex_;
  std::condition_variable ended_changed_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace traceweir::app
