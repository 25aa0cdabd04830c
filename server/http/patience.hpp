// For: how long a client may keep us waiting in the middle of a body: a minimum rate, averaged.
// Not for: what happens when it is over.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "server/http/limits.hpp"

namespace traceweir::http {

/// A bucket of time. It starts full (body_grace); waiting drains it, every byte that comes fills it by 1/body_rate_min,
/// never above the start. Empty means: slower than the rate for body_grace. Time that we spend ourselves is not
/// counted.
class Patience {
 public:
  using Duration = std::chrono::nanoseconds;

  explicit Patience(const HttpLimits& limits)
      : grace_(limits.body_grace),
        left_(limits.body_grace),
        total_left_(limits.body_time_max),
        rate_(std::max<std::uint64_t>(limits.body_rate_min, 1)) {}

  /// How long the next wait may be.
  [[nodiscard]] Duration left() const { return std::max(std::min(left_, total_left_), Duration{0}); }

  /// After a wait that brought `bytes`.
  void spend(Duration waited, std::size_t bytes) {
    const double earned_s = static_cast<double>(bytes) / static_cast<double>(rate_);
    const double cap_s = std::chrono::duration<double>(grace_).count();
    const auto earned = std::chrono::duration<double>(std::min(earned_s, cap_s));
    left_ = std::min(grace_, left_ - waited + std::chrono::duration_cast<Duration>(earned));
    total_left_ -= waited;
  }

 private:
  Duration grace_;
  Duration left_;
  Duration total_left_;
  std::uint64_t rate_;
};

}  // namespace traceweir::http
