#include "server/app/resumer.hpp"

#include <exception>
#include <utility>

#include "server/app/log.hpp"

namespace traceweir::app {

Resumer::Resumer(store::Store& store, pipeline::RunQueue& runs, ResumePauses pauses, std::atomic<bool>& store_was_away)
    : store_(store), runs_(runs), pauses_(pauses), store_was_away_(store_was_away), thread_([this] { work(); }) {}

Resumer::~Resumer() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ended_changed_.notify_all();
  thread_.join();
}

void Resumer::work() {
  do {
    try {
      look();
    } catch (const std::exception& error) {
      log(LogLevel::error, "resume_failed", {{"detail", error.what()}});
    }
  } while (wait());
}

/// Returns whether to look again: after the usual pause, or sooner if the database was away. False at the end.
bool Resumer::wait() {
  const auto usual_end = std::chrono::steady_clock::now() + pauses_.usual;
  std::unique_lock lock(mutex_);
  while (!ended_changed_.wait_for(lock, pauses_.away, [this] { return ended_; }))
    if (store_was_away_.exchange(false) || std::chrono::steady_clock::now() >= usual_end) return true;
  return false;
}

/// A run that is on its way already is only joined: looking too often does no harm.
void Resumer::look() {
  const auto unfinished = store_.unfinished_runs();
  if (!unfinished) {
    store_was_away_ = true;
    if (!std::exchange(failed_, true))
      log(LogLevel::warning, "resume_failed", {{"detail", unfinished.error().message}});
    return;
  }
  failed_ = false;
  for (const store::RunRecord& run : *unfinished)
    if (run.status == store::RunStatus::analysing) runs_.submit(run.head.project, run.head.id);
}

}  // namespace traceweir::app
