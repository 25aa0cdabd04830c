// For: those who wait for a job that is done here or in another process: they are woken when it is done.
// Not for: its result: whoever waits looks it up.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "server/pipeline/completion.hpp"

namespace traceweir::pipeline {

/// A job by what it is about: a run, or one upload of it.
std::string name_of(const std::string& run, std::optional<std::int64_t> rank);

/// Thread: share freely.
class Watchers {
 public:
  std::shared_ptr<Completion> watch(const std::string& name);
  /// Wakes who waits for this job.
  void finish(const std::string& name);
  /// The jobs that somebody waits for. Who gave up is forgotten here.
  [[nodiscard]] std::vector<std::string> watched();

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Completion>> completions_;
};

}  // namespace traceweir::pipeline
