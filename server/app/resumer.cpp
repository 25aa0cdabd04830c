#include "server/app/resumer.hpp"

#include <exception>
#include <utility>

#include "server/app/log.hpp"

namespace traceweir::app {

Resumer::Resumer(store::Store& store, pipeline::RunQueue& runs, ResumeTimes times, std::atomic<bool>& store_was_away)
    : store_(store), runs_(runs), times_(std::move(times)), store_was_away_(store_was_away), thread_([this] {
        work();
      }) {}

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
  const auto usual_end = std::chrono::steady_clock::now() + times_.usual;
  std::unique_lock lock(mutex_);
  while (!ended_changed_.wait_for(lock, times_.away, [this] { return ended_; }))
    if (store_was_away_.exchange(false) || std::chrono::steady_clock::now() >= usual_end) return true;
  return false;
}

void Resumer::look() {
  const auto unfinished = store_.unfinished_runs();
  if (!unfinished) {
    store_was_away_ = true;
    if (!std::exchange(failed_, true))
      log(LogLevel::warning, "resume_failed", {{"detail", unfinished.error().message}});
    return;
  }
  failed_ = false;
  for (const store::RunRecord& run : *unfinished) look_at(run);
}

/// What is on its way already is only joined: looking too often does no harm.
void Resumer::look_at(const store::RunRecord& run) {
  const std::string &project = run.head.project, &id = run.head.id;
  if (run.status == store::RunStatus::analysing) return static_cast<void>(runs_.submit(project, id));
  for (const store::Upload& upload : run.uploads)
    if (upload.status == store::UploadStatus::received) runs_.submit_upload(project, id, upload.rank);
  if (run.closed || times_.now() - run.head.received_at < times_.run_complete_max) return;
  const auto status = store_.close_run(project, id);
  if (!status) return log(LogLevel::warning, "resume_failed", {{"run", id}, {"detail", status.error().message}});
  log(LogLevel::info, "run_closed", {{"run", id}, {"project", project}});
  if (*status == store::RunStatus::analysing) runs_.submit(project, id);
}

}  // namespace traceweir::app
