#include "server/pipeline/workers.hpp"

#include <fmt/format.h>

namespace traceweir::pipeline {

Workers::Workers(std::string name, unsigned threads, std::size_t depth_max)
    : name_(std::move(name)), depth_max_(depth_max), threads_(threads), pool_(threads) {}

bool Workers::enter() {
  if (stopped_) return false;
  if (depth_.fetch_add(1) < depth_max_) return true;
  leave();
  return false;
}

tl::unexpected<Error> Workers::full() const {
  if (stopped_) return fail(ErrorCode::queue_full, "the service is stopping; try again in a moment");
  return fail(ErrorCode::queue_full, fmt::format("{} jobs are waiting ({}); try again in a moment", depth_max_, name_));
}

Result<void> Workers::check_room() const {
  if (stopped_ || depth_ >= depth_max_) return full();
  return {};
}

Workers::Taken Workers::submit(std::function<void()> work) {
  const std::lock_guard lock(stopping_);  // what is posted after the threads have ended is never run
  if (stopped_) return Taken::no;
  ++depth_;
  boost::asio::post(pool_, [this, work = std::move(work)] {
    work();
    leave();
  });
  return Taken::yes;
}

bool Workers::submit_if_idle(std::function<void()> work) {
  const std::lock_guard lock(stopping_);
  if (stopped_) return false;
  if (++extra_ + depth_ > threads_) {
    --extra_;
    return false;
  }
  boost::asio::post(pool_, [this, work = std::move(work)] {
    work();
    --extra_;
  });
  return true;
}

void Workers::stop() {
  {
    const std::lock_guard lock(stopping_);
    stopped_ = true;
  }
  pool_.join();
}

}  // namespace traceweir::pipeline
