#include "server/pipeline/watchers.hpp"

#include <fmt/format.h>

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

std::vector<std::string> Watchers::watched() {
  const std::lock_guard lock(mutex_);
  std::erase_if(completions_, [](const auto& entry) { return entry.second.use_count() == 1; });
  std::vector<std::string> names;
  for (const auto& [name, completion] : completions_) names.push_back(name);
  return names;
}

}  // namespace traceweir::pipeline
