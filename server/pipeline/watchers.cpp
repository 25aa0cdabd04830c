#include "server/pipeline/watchers.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

namespace traceweir::pipeline {

std::string name_of(const std::string& run, std::optional<std::int64_t> rank) {
  return rank ? fmt::format("{} rank {}", run, *rank) : run;
}

std::shared_ptr<Completion> Watchers::watch(const std::string& name) {
  const std::lock_guard lock(mutex_);
  auto& completion = completions_[name];
  if (!completion) completion = std::make_shared<Completion>();
  return completion;
}

void Watchers::finish(const std::string& name) {
  std::shared_ptr<Completion> completion;
  {
    const std::lock_guard lock(mutex_);
    const auto it = completions_.find(name);
    if (it == completions_.end()) return;
    completion = std::move(it->second);
    completions_.erase(it);
  }
  completion->finish();
}

void Watchers::finish_all_but(const std::vector<store::Job>& jobs) {
  std::set<std::string> open;
  for (const store::Job& job : jobs) open.insert(name_of(job.run, job.rank));
  std::vector<std::shared_ptr<Completion>> done;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(completions_, [&](auto& entry) {
      if (open.contains(entry.first)) return false;
      done.push_back(std::move(entry.second));
      return true;
    });
  }
  for (const auto& completion : done) completion->finish();
}

bool Watchers::any() {
  const std::lock_guard lock(mutex_);
  std::erase_if(completions_, [](const auto& entry) { return entry.second.use_count() == 1; });
  return !completions_.empty();
}

}  // namespace traceweir::pipeline
