#include "server/outbound/conversations.hpp"

namespace traceweir::outbound {

void Conversations::cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  for (boost::asio::io_context* io : held_) io->stop();
}

bool Conversations::begin(boost::asio::io_context& io) {
  const std::lock_guard lock(mutex_);
  if (!cancelled_) held_.insert(&io);
  return !cancelled_;
}

bool Conversations::end(boost::asio::io_context& io) {
  const std::lock_guard lock(mutex_);
  held_.erase(&io);
  return cancelled_;
}

}  // namespace traceweir::outbound
