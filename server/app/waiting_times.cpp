#include "server/app/waiting_times.hpp"

#include <algorithm>
#include <utility>

namespace traceweir::app {

void WaitingTimes::look(store::Timestamp now, Steady steady) {
  pause_ = looked_ ? steady - steady_ : std::chrono::nanoseconds::max();
  looked_ = true;
  now_ = now;
  steady_ = steady;
  begun_ = std::exchange(asked_, {});
}

std::chrono::nanoseconds WaitingTimes::of(const std::string& id, store::Timestamp since) {
  const auto known = begun_.find(id);
  if (known != begun_.end()) {
    asked_[id] = known->second;
    return steady_ - known->second;
  }
  const auto told = std::chrono::duration_cast<std::chrono::nanoseconds>(now_ - since);
  const auto waited = std::clamp(told, std::chrono::nanoseconds{0}, pause_);
  asked_[id] = steady_ - waited;
  return waited;
}

}  // namespace traceweir::app
