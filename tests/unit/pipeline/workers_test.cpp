// Workers and completions under many threads at once. The stress layer builds this once more with the thread sanitizer.
#include <doctest/doctest.h>

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "server/pipeline/completion.hpp"
#include "server/pipeline/workers.hpp"

using namespace traceweir;
using pipeline::Completion;
using pipeline::Workers;

namespace {

constexpr int threads_at_once = 4, jobs_each = 200;

/// Runs `work` on several threads at once and waits for all.
template <typename Work>
void at_once(const Work& work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < threads_at_once; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST_CASE("workers: every job that was taken is done once, before stop() returns, and none after it") {
  Workers workers("jobs", 3, 1'000'000);
  std::atomic<int> done{0}, idle_jobs{0};
  at_once([&] {
    for (int i = 0; i < jobs_each; ++i) {
      workers.submit([&] { ++done; });
      if (workers.submit_if_idle([&] { ++done; })) ++idle_jobs;
    }
  });
  workers.stop();
  CHECK(done == threads_at_once * jobs_each + idle_jobs);
  CHECK(workers.depth() == 0);
  workers.submit([&] { ++done; });
  CHECK_FALSE(workers.check_room());
  CHECK(done == threads_at_once * jobs_each + idle_jobs);
}

TEST_CASE("workers: the queue never holds more than it may, whoever asks at once") {
  Workers workers("jobs", 2, 5);
  std::atomic<int> inside{0}, most{0}, done{0}, refused{0};
  at_once([&] {
    boost::asio::io_context context;
    const auto ask = [&]() -> boost::asio::awaitable<void> {
      auto work = [&]() -> Result<int> {
        const int now = ++inside;
        for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) continue;
        --inside;
        return ++done;
      };
      const auto answer = co_await workers.run(std::move(work));
      if (!answer) ++refused;
    };
    for (int i = 0; i < jobs_each; ++i) boost::asio::co_spawn(context, ask, boost::asio::detached);
    context.run();
  });
  workers.stop();
  CHECK(done + refused == threads_at_once * jobs_each);
  CHECK(done > 0);
  CHECK(refused > 0);
  CHECK(most <= 2);
}

TEST_CASE("completion: whoever listens before, while or after it happens hears of it once") {
  for (int round = 0; round < jobs_each; ++round) {
    const auto completion = std::make_shared<Completion>();
    std::atomic<int> heard{0}, asked{0};
    at_once([&] {
      if (asked++ == threads_at_once / 2) completion->finish();
      completion->on_finish([&] { ++heard; });
    });
    CHECK(heard == threads_at_once);
  }
}

TEST_CASE("completion: those who wait come back when it is done, on their own threads") {
  const auto completion = std::make_shared<Completion>();
  std::atomic<int> back{0};
  std::thread finisher([&] { completion->finish(); });
  at_once([&] {
    boost::asio::io_context context;
    const auto wait = [&]() -> boost::asio::awaitable<void> {
      co_await pipeline::wait_for(completion, std::chrono::seconds{60});
      ++back;
    };
    for (int i = 0; i < 10; ++i) boost::asio::co_spawn(context, wait, boost::asio::detached);
    context.run();
  });
  finisher.join();
  CHECK(back == threads_at_once * 10);
}
