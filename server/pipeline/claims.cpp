#include "server/pipeline/claims.hpp"

#include <algorithm>
#include <utility>

namespace traceweir::pipeline {

Claims::Claims(store::Store& store, std::string process, std::chrono::milliseconds lease)
    : store_(store), process_(std::move(process)), lease_(lease) {}

store::Claim Claims::next() {
  const std::lock_guard lock(mutex_);
  std::string holder = process_ + '/' + std::to_string(++number_);
  asked_.insert(holder);
  return {std::move(holder), lease_};
}

bool Claims::drop(const std::string& holder) {
  const std::lock_guard lock(mutex_);
  return asked_.erase(holder) + held_.erase(holder) > 0;
}

void Claims::release(store::Release release) {
  drop(release.holder);
  const auto done = store_.release_job(release);
  if (done) return;
  const std::lock_guard lock(mutex_);
  to_release_.push_back(std::move(release));
}

Result<void> Claims::give_back() {
  std::vector<store::Release> releases;
  {
    const std::lock_guard lock(mutex_);
    releases = to_release_;
  }
  for (const store::Release& release : releases) {
    TRACEWEIR_TRY_VOID(store_.release_job(release));
    const std::lock_guard lock(mutex_);
    std::erase_if(to_release_, [&](const store::Release& one) { return one.holder == release.holder; });
  }
  return {};
}

Result<std::vector<std::string>> Claims::look() {
  TRACEWEIR_TRY_VOID(give_back());
  const auto now = std::chrono::steady_clock::now();
  std::vector<std::string> ours;
  {
    const std::lock_guard lock(mutex_);
    if (now - renewed_ < beat()) return ours;
    ours.assign(asked_.begin(), asked_.end());
    ours.insert(ours.end(), held_.begin(), held_.end());
  }
  std::vector<std::string> lost;
  if (!ours.empty()) {
    TRACEWEIR_TRY(renewed, store_.renew_claims(ours, lease_));
    const std::lock_guard lock(mutex_);
    for (const std::string& holder : ours) {
      if (std::find(renewed.begin(), renewed.end(), holder) != renewed.end()) {
        if (asked_.erase(holder) > 0) held_.insert(holder);
      } else if (held_.erase(holder) > 0) {
        lost.push_back(holder);
      }
    }
  }
  renewed_ = now;
  return lost;
}

}  // namespace traceweir::pipeline
