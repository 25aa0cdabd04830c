#include "server/app/stopper.hpp"

#include <pthread.h>

#include <csignal>
#include <utility>

#include "server/app/log.hpp"

namespace traceweir::app {
namespace {

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  return set;
}

/// How often the watching thread looks whether it is no longer needed.
constexpr timespec look_every{0, 50'000'000};

}  // namespace

void block_stop_signals() {
  const sigset_t set = stop_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

Stopper::Stopper(std::function<void()> stop, std::function<void()> force, std::chrono::milliseconds grace)
    : stop_(std::move(stop)), force_(std::move(force)), grace_(grace), thread_([this] { watch(); }) {}

Stopper::~Stopper() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ended_changed_.notify_all();
  thread_.join();
}

bool Stopper::wait_for_signal() {
  const sigset_t set = stop_signals();
  for (;;) {
    if (sigtimedwait(&set, nullptr, &look_every) > 0) return true;
    const std::lock_guard lock(mutex_);
    if (ended_) return false;
  }
}

void Stopper::watch() {
  if (!wait_for_signal()) return;
  log(LogLevel::info, "stopping");
  stop_();
  std::unique_lock lock(mutex_);
  if (!ended_changed_.wait_for(lock, grace_, [this] { return ended_; })) force_();
}

}  // namespace traceweir::app
