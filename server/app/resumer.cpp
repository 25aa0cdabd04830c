#include "server/app/resumer.hpp"

#include <exception>

#include "server/app/log.hpp"

namespace traceweir::app {

Resumer::Resumer(store::Store& store, pipeline::RunQueue& runs, std::chrono::milliseconds pause)
    : store_(store), runs_(runs), pause_(pause), thread_([this] { work(); }) {}

Resumer::~Resumer() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ended_changed_.notify_all();
  thread_.join();
}

void Resumer::work() {
  for (;;) {
    try {
      look();
    } catch (const std::exception& error) {
      log(LogLevel::error, "resume_failed", {{"detail", error.what()}});
    }
    std::unique_lock lock(mutex_);
    if (ended_changed_.wait_for(lock, pause_, [this] { return ended_; })) return;
  }
}

/// A run that is on its way already is only joined: looking too often does no harm.
void Resumer::look() {
  const auto unfinished = store_.unfinished_runs();
  if (!unfinished) return log(LogLevel::warning, "resume_failed", {{"detail", unfinished.error().message}});
  for (const store::RunRecord& run : *unfinished)
    if (run.status == store::RunStatus::analysing) runs_.submit(run.head.project, run.head.id);
}

}  // namespace traceweir::app
