// For: SIGTERM and SIGINT, turned into calls on a thread of their own. Not for: what is stopped.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace traceweir::app {

/// Blocks the two signals in the calling thread and those that it starts; call it before any other thread is made.
void block_stop_signals();

/// While it lives: the first signal calls `stop`; when `grace` has passed after it, `force` is called.
/// Destroying it waits for its thread; nothing is called any more.
class Stopper {
 public:
  Stopper(std::function<void()> stop, std::function<void()> force, std::chrono::milliseconds grace);
  ~Stopper();
  Stopper(const Stopper&) = delete;
  Stopper& operator=(const Stopper&) = delete;

 private:
  void watch();
  bool wait_for_signal();

  std::function<void()> stop_, force_;
  std::chrono::milliseconds grace_;
  std::mutex mutex_;
  std::condition_variable ended_changed_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace traceweir::app
