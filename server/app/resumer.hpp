// For: runs that were acknowledged and have no result: after a restart, and after a fault of the service or its
// database. Not for: analysing them (server/pipeline).
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "server/pipeline/run_pipeline.hpp"
#include "server/store/store.hpp"

namespace traceweir::app {

/// How long until it looks again. `away`: after the database could not be reached.
struct ResumePauses {
  std::chrono::milliseconds usual, away;
};

/// While it lives, it looks for such runs at once and then again and again, and puts them into the queue.
class Resumer {
 public:
  /// `store_was_away` is set by whoever met a database that was away, and taken back here: then it looks soon.
  Resumer(store::Store& store, pipeline::RunQueue& runs, ResumePauses pauses, std::atomic<bool>& store_was_away);
  ~Resumer();
  Resumer(const Resumer&) = delete;
  Resumer& operator=(const Resumer&) = delete;

 private:
  void work();
  void look();
  bool wait();

  store::Store& store_;
  pipeline::RunQueue& runs_;
  ResumePauses pauses_;
  std::atomic<bool>& store_was_away_;
  bool failed_ = false;  // the last look: only the first failure of several is said
  std::mutex mutex_;
  std::condition_variable ended_changed_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace traceweir::app
