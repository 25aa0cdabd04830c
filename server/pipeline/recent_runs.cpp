#include "server/pipeline/recent_runs.hpp"

#include <algorithm>
#include <utility>

namespace traceweir::pipeline {

void RecentRuns::add(Run run, std::size_t report_bytes) {
  if (report_bytes > report_bytes_max) return;
  auto shared = std::make_shared<const Run>(std::move(run));
  const std::lock_guard lock(mutex_);
  runs_.push_front(std::move(shared));
  if (runs_.size() > runs_max) runs_.pop_back();
}

std::shared_ptr<const RecentRuns::Run> RecentRuns::find(std::string_view id) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(runs_.begin(), runs_.end(), [id](const auto& run) { return run->head.id == id; });
  return found == runs_.end() ? nullptr : *found;
}

}  // namespace traceweir::pipeline
