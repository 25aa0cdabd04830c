#include "server/pipeline/completion.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

namespace traceweir::pipeline {

void Completion::finish() {
  std::vector<std::function<void()>> listeners;
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
    listeners = std::exchange(listeners_, {});
  }
  for (const auto& listener : listeners) listener();
}

void Completion::on_finish(std::function<void()> listener) {
  {
    const std::lock_guard lock(mutex_);
    if (!done_) {
      listeners_.push_back(std::move(listener));
      return;
    }
  }
  listener();
}

boost::asio::awaitable<void> wait_for(std::shared_ptr<Completion> completion, std::chrono::seconds limit) {
  const auto executor = co_await boost::asio::this_coro::executor;
  const auto timer = std::make_shared<boost::asio::steady_timer>(executor, limit);
  // The expiry is moved into the past, not only cancelled: a wait that has not begun yet then ends at once, too.
  completion->on_finish([timer, executor] {
    boost::asio::post(executor, [timer] { timer->expires_at(boost::asio::steady_timer::time_point::min()); });
  });
  boost::system::error_code ignored;
  co_await timer->async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
}

}  // namespace traceweir::pipeline
