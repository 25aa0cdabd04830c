// For: answering the same question about a stored run again without asking the store, for a moment: dashboards and
// waiting jobs ask often, and a judged run seldom changes.
// Not for: anything that is still on its way; lists and histories; keeping answers for longer than a person would
// notice.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "server/http/router.hpp"

namespace traceweir::api {

/// What was answered is answered again to the same token, for `age_max` from when it was read. Every request that may
/// write ends what is remembered before it is answered, so that whoever changed something sees the change; what other
/// processes change (`traceweird token revoke`, another service on the same store) is seen after `age_max`.
/// Thread: safe from any thread.
class Remembered {
 public:
  static constexpr std::chrono::milliseconds age_max{1'000};
  static constexpr std::size_t answers_max = 256;
  static constexpr std::size_t answer_bytes_max = std::size_t{256} * 1024;

  explicit Remembered(http::Router router) : router_(std::move(router)) {}

  /// The router's answer, or that of a moment ago. `request` must outlive it.
  boost::asio::awaitable<http::Response> answer(http::Request& request);

 private:
  using Clock = std::chrono::steady_clock;
  struct Answer {
    http::Response response;
    std::string route;
    Clock::time_point read_at;
  };

  std::optional<http::Response> recall(const std::string& key, http::Request& request);
  void keep(const std::string& key, Answer answer, std::uint64_t changes);
  std::uint64_t changes() const;
  void forget();

  http::Router router_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Answer> answers_;
  std::uint64_t changes_ = 0;  ///< requests that may have written something
};

}  // namespace traceweir::api
