// For: how long something has waited, however the clock is set meanwhile: a step forward ends no wait early, a step
// back makes none longer. Not for: deciding what is too long.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "server/store/timestamp.hpp"

namespace traceweir::app {

/// What is looked at now and then. Of two looks only the time of the steady clock between them counts; the wall clock
/// is asked once for each thing, when it is seen first, and believed no further than the look before.
/// Thread: one at a time.
class WaitingTimes {
 public:
  using Steady = std::chrono::steady_clock::time_point;

  /// Begins a look. Forgets what the look before did not ask for.
  void look(store::Timestamp now, Steady steady);
  /// How long `id` has waited, which began at `since` by the wall clock.
  std::chrono::nanoseconds of(const std::string& id, store::Timestamp since);

 private:
  std::map<std::string, Steady> begun_, asked_;  ///< when each began, by the steady clock
  store::Timestamp now_{};
  Steady steady_{};
  bool looked_ = false;
  std::chrono::nanoseconds pause_{};  ///< since the look before
};

}  // namespace traceweir::app
