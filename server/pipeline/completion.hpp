// For: waiting, from coroutines, for something that happens on a worker, by any number of waiters and with a limit.
// Not for: the result: whoever waits looks it up.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace traceweir::pipeline {

/// Happens once. Shared by the job and those who wait for it: whoever is last lets it go.
/// Thread: share freely.
class Completion {
 public:
  /// Marks it done and wakes every waiter.
  void finish();

  /// Calls `listener` when it is done, at once if it is. Runs on the thread that finishes.
  void on_finish(std::function<void()> listener);

 private:
  std::mutex mutex_;
  bool done_ = false;
  std::vector<std::function<void()>> listeners_;
};

/// Suspends until `completion` is done or the time is up; the caller looks at the state to see which.
boost::asio::awaitable<void> wait_for(std::shared_ptr<Completion> completion, std::chrono::seconds limit);

}  // namespace traceweir::pipeline
