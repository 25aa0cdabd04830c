// For: the one crossing between network threads and blocking work (analysis, SQL, fsync): over a bounded queue, once
// there and once back. Not for: deciding what is done.
#pragma once

#include <atomic>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>

#include "analyzer/core/error.hpp"

namespace traceweir::pipeline {

/// Threads that may block, behind a queue with an end.
/// Thread: share freely; destroy only after stop().
class Workers {
 public:
  /// `depth_max`: jobs that wait or run; one more is refused at once. `name` says in the error which queue is full.
  Workers(std::string name, unsigned threads, std::size_t depth_max);

  /// Runs `work` (a function that returns a Result) on a worker and comes back to the caller's executor.
  /// Errors: queue_full, what `work` returns, internal (it threw).
  template <typename Work>
  boost::asio::awaitable<std::invoke_result_t<Work>> run(Work work) {
    using Outcome = std::invoke_result_t<Work>;
    if (!enter()) co_return full();
    auto start = [this](auto handler, Work job) {
      auto executor = boost::asio::prefer(boost::asio::get_associated_executor(handler),
                                          boost::asio::execution::outstanding_work.tracked);
      auto on_worker = [this, handler = std::move(handler), job = std::move(job), executor]() mutable {
        auto resume = [handler = std::move(handler), outcome = guarded<Outcome>(job)]() mutable {
          std::move(handler)(std::move(outcome));
        };
        leave();
        boost::asio::post(executor, std::move(resume));
      };
      boost::asio::post(pool_, std::move(on_worker));
    };
    co_return co_await boost::asio::async_initiate<const boost::asio::use_awaitable_t<>&, void(Outcome)>(
        start, boost::asio::use_awaitable, std::move(work));
  }

  enum class Taken { yes, no };
  /// Runs `work` on a worker without waiting for it. It is taken however many wait: for work that was accepted already.
  /// After stop() it is not.
  Taken submit(std::function<void()> work);

  /// Runs `work` if a thread has nothing to do; it counts for no limit of the queue. Says whether it is taken.
  bool submit_if_idle(std::function<void()> work);

  /// Whether one more job would be taken now. Errors: queue_full, naming the limit.
  [[nodiscard]] Result<void> check_room() const;

  /// Whether a thread has nothing to do.
  [[nodiscard]] bool is_idle() const { return !stopped_ && extra_ + depth_ < threads_; }

  /// Jobs that wait or run now, and how many may.
  [[nodiscard]] std::size_t depth() const { return depth_; }
  [[nodiscard]] std::size_t depth_max() const { return depth_max_; }

  /// Waits for the jobs that were taken. Later ones are refused.
  void stop();

 private:
  bool enter();
  void leave() { --depth_; }
  [[nodiscard]] tl::unexpected<Error> full() const;

  /// The world may throw; a worker thread must not end by it.
  template <typename Outcome, typename Work>
  static Outcome guarded(Work& work) {
    try {
      return work();
    } catch (const std::exception& error) {
      return fail(ErrorCode::internal, error.what());
    }
  }

  std::string name_;
  std::size_t depth_max_;
  unsigned threads_;
  std::atomic<std::size_t> depth_{0};
  std::atomic<std::size_t> extra_{0};  ///< jobs of submit_if_idle
  std::mutex stopping_;                ///< held where work is taken that its sender does not wait for
  std::atomic<bool> stopped_{false};
  boost::asio::thread_pool pool_;
};

}  // namespace traceweir::pipeline
