// For: work that comes again and again on a thread of its own. Not for: what is done (upkeep.hpp).
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace traceweir::app {

/// While it lives, it calls `work` at once and then after every pause. What `work` throws is logged under `name`.
/// Destroying it waits for the call that runs.
class Periodic {
 public:
  Periodic(std::string name, std::chrono::milliseconds pause, std::function<void()> work);
  ~Periodic();
  Periodic(const Periodic&) = delete;
  Periodic& operator=(const Periodic&) = delete;

 private:
  void go_on();
  void call();

  std::string name_;
  std::chrono::milliseconds pause_;
  std::function<void()> work_;
  std::mutex mutex_;
  std::condition_variable ended_changed_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace traceweir::app
