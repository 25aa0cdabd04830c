// For: runs that were acknowledged and have no result: after a restart, and after a fault of the service or its
// database. Not for: analysing them (server/pipeline).
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "server/pipeline/run_pipeline.hpp"
#include "server/store/store.hpp"

namespace traceweir::app {

/// While it lives, it looks for such runs at once and then every `pause`, and puts them into the queue.
class Resumer {
 public:
  Resumer(store::Store& store, pipeline::RunQueue& runs, std::chrono::milliseconds pause);
  ~Resumer();
  Resumer(const Resumer&) = delete;
  Resumer& operator=(const Resumer&) = delete;

 private:
  void work();
  void look();

  store::Store& store_;
  pipeline::RunQueue& runs_;
  std::chrono::milliseconds pause_;
  std::mutex mutex_;
  std::condition_variable ended_changed_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace traceweir::app
