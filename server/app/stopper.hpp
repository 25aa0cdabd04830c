// For: the signals that end the service, turned into calls on a thread of their own. Not for: what is stopped.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <thread>

namespace traceweir::app {

/// Blocks SIGTERM, SIGINT and SIGHUP in the calling thread and those that it starts; call it before any other thread is
/// made.
void block_stop_signals();

/// How long the steps below may take beyond what requests are given before something counts as hanging.
inline constexpr std::chrono::milliseconds abandon_time{4'500};
/// Ends the process at once: something hangs, and nothing acknowledged is lost.
[[noreturn]] void abandon();

/// What is done, step by step, when the service is told to end. Each step is called once at most.
struct StopSteps {
  std::function<void()> stop;     ///< at the first signal: take nothing new, finish what runs
  std::function<void()> force;    ///< `force_after` later: end what still runs
  std::function<void()> hurry;    ///< at a second signal, before `force`, which then comes at once: wait for nobody
  std::function<void()> abandon;  ///< `abandon_after` after `force`: something hangs; leave it behind
  std::chrono::milliseconds force_after, abandon_after;
};

/// While it lives, SIGTERM and SIGINT begin the steps. SIGHUP is only noted in the log: configuration is read once.
/// Destroying it waits for its thread; nothing is called any more.
class Stopper {
 public:
  explicit Stopper(StopSteps steps);
  ~Stopper();
  Stopper(const Stopper&) = delete;
  Stopper& operator=(const Stopper&) = delete;

 private:
  enum class Woken { by_signal, by_time, by_end };
  using Clock = std::chrono::steady_clock;
  void watch();
  Woken wait_until(Clock::time_point time);

  StopSteps steps_;
  std::mutex mutex_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace traceweir::app
