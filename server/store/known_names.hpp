// For: names that were seen in a table from which none ever goes, so that they need not be looked for again.
// Not for: what may change.
#pragma once

#include <algorithm>
#include <functional>
#include <mutex>
#include <set>
#include <span>
#include <string>

namespace traceweir::store {

/// Thread: safe from any thread.
class KnownNames {
 public:
  [[nodiscard]] bool has(std::span<const std::string> names) const {
    const std::lock_guard lock(mutex_);
    return std::all_of(names.begin(), names.end(), [this](const std::string& name) { return names_.contains(name); });
  }
  void add(std::span<const std::string> names) {
    const std::lock_guard lock(mutex_);
    if (names_.size() < names_max) names_.insert(names.begin(), names.end());
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    names_.clear();
  }

 private:
  static constexpr std::size_t names_max = 10'000;

  mutable std::mutex mutex_;
  std::set<std::string, std::less<>> names_;
};

}  // namespace traceweir::store
