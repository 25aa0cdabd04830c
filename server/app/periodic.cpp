#include "server/app/periodic.hpp"

#include <exception>
#include <utility>

#include "server/app/log.hpp"

namespace traceweir::app {

Periodic::Periodic(std::string name, std::chrono::milliseconds pause, std::function<void()> work)
    : name_(std::move(name)), pause_(pause), work_(std::move(work)), thread_([this] { go_on(); }) {}

Periodic::~Periodic() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ended_changed_.notify_all();
  thread_.join();
}

void Periodic::go_on() {
  for (;;) {
    call();
    std::unique_lock lock(mutex_);
    if (ended_changed_.wait_for(lock, pause_, [this] { return ended_; })) return;
  }
}

void Periodic::call() {
  try {
    work_();
  } catch (const std::exception& error) {
    log(LogLevel::error, name_ + "_failed", {{"detail", error.what()}});
  }
}

}  // namespace traceweir::app
