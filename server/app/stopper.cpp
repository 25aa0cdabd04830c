#include "server/app/stopper.hpp"

#include <pthread.h>

#include <csignal>
#include <cstdlib>
#include <utility>

#include "server/app/log.hpp"

namespace traceweir::app {
namespace {

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, number);
  return set;
}

/// How often the watching thread looks whether it is no longer needed.
constexpr timespec look_every{0, 50'000'000};

}  // namespace

void block_stop_signals() {
  const sigset_t set = stop_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

void abandon() {
  log(LogLevel::warning, "stop_abandoned", {{"detail", "something did not end in time; nothing acknowledged is lost"}});
  std::_Exit(0);
}

Stopper::Stopper(StopSteps steps) : steps_(std::move(steps)), thread_([this] { watch(); }) {}

Stopper::~Stopper() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  thread_.join();
}

Stopper::Woken Stopper::wait_until(Clock::time_point time) {
  const sigset_t set = stop_signals();
  for (;;) {
    const int number = sigtimedwait(&set, nullptr, &look_every);
    if (number == SIGHUP)
      log(LogLevel::warning, "not_reloaded", {{"detail", "the configuration is read once: start the service anew"}});
    else if (number > 0)
      return Woken::by_signal;
    const std::lock_guard lock(mutex_);
    if (ended_) return Woken::by_end;
    if (Clock::now() >= time) return Woken::by_time;
  }
}

void Stopper::watch() {
  if (wait_until(Clock::time_point::max()) == Woken::by_end) return;
  log(LogLevel::info, "stopping");
  steps_.stop();
  const Woken woken = wait_until(Clock::now() + steps_.force_after);
  if (woken == Woken::by_end) return;
  if (woken == Woken::by_signal) {
    log(LogLevel::info, "stopping_at_once");
    steps_.hurry();
  }
  steps_.force();
  const auto last = Clock::now() + steps_.abandon_after;
  while (true) {
    switch (wait_until(last)) {
      case Woken::by_end:
        return;
      case Woken::by_time:
        return steps_.abandon();
      case Woken::by_signal:
        break;  // told already
    }
  }
}

}  // namespace traceweir::app
