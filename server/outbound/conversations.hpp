// For: conversations with hosts of others: each ends when its time is over, and all are broken off when the service
// stops. Not for: whom they may be with (address.hpp), or what is said.
#pragma once

#include <fmt/format.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <exception>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "analyzer/core/error.hpp"

namespace traceweir::outbound {

/// Thread: share freely.
class Conversations {
 public:
  /// What the conversation comes to, held on the caller's thread. What still waits when the time is up is let go.
  /// Errors: unreachable: what it threw, out of time, broken off.
  template <typename Answer>
  Result<Answer> hold(boost::asio::awaitable<Answer> talk, std::chrono::milliseconds time_max) {
    std::optional<Result<Answer>> outcome;
    const auto finish = [&outcome](const std::exception_ptr& error, Answer answer) {
      try {
        if (error) std::rethrow_exception(error);
        outcome = std::move(answer);
      } catch (const std::exception& failure) {
        outcome = fail(ErrorCode::unreachable, failure.what());
      }
    };
    boost::asio::io_context io(1);
    if (!begin(io)) return broken_off();
    boost::asio::co_spawn(io, std::move(talk), finish);
    io.run_for(time_max);
    const bool cancelled = end(io);
    if (outcome) return *std::move(outcome);
    if (cancelled) return broken_off();
    return fail(ErrorCode::unreachable, fmt::format("no answer within {} ms", time_max.count()));
  }

  /// Breaks off all that are held, and every later one.
  void cancel();

 private:
  static tl::unexpected<Error> broken_off() { return fail(ErrorCode::unreachable, "the service stops"); }
  /// False: they are broken off.
  bool begin(boost::asio::io_context& io);
  /// Whether they are broken off.
  bool end(boost::asio::io_context& io);

  std::mutex mutex_;
  bool cancelled_ = false;
  std::set<boost::asio::io_context*> held_;
};

}  // namespace traceweir::outbound
