#include "server/s3/readiness.hpp"

namespace traceweir::s3 {

Result<void> Readiness::now() {
  std::unique_lock lock(mutex_);
  const bool is_fresh = last_ && *last_ && Clock::now() - answered_at_ < remembered_;
  if (last_ && (asking_ || is_fresh)) return *last_;
  asking_ = true;
  lock.unlock();
  Result<void> answer = ask_();
  lock.lock();
  asking_ = false;
  last_ = answer;
  answered_at_ = Clock::now();
  return answer;
}

}  // namespace traceweir::s3
