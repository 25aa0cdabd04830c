// For: what is known of a store elsewhere without asking it for everybody who asks us: a probe needs no token, and each
// of its questions would be a connection. Not for: asking (client.hpp).
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>

#include "analyzer/core/error.hpp"

namespace traceweir::s3 {

/// Thread: any; who asks may block, one at a time once there is an answer.
class Readiness {
 public:
  using Clock = std::chrono::steady_clock;
  using Ask = std::function<Result<void>()>;
  static constexpr std::chrono::milliseconds remembered_time{1'000};

  explicit Readiness(Ask ask, std::chrono::milliseconds remembered = remembered_time)
      : ask_(std::move(ask)), remembered_(remembered) {}

  /// A good answer is good for a while; a bad one is asked for again, since it may be over. While one asks, the others
  /// are told what was known last. Errors: those of the question.
  Result<void> now();

 private:
  Ask ask_;
  std::chrono::milliseconds remembered_;
  std::mutex mutex_;
  bool asking_ = false;
  std::optional<Result<void>> last_;
  Clock::time_point answered_at_{};
};

}  // namespace traceweir::s3
