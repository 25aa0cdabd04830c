// For: settling a series once for several runs of it that are judged at the same time here, since each time reads all
// of the series. Where one run comes alone, its series is settled before anybody is told its verdict; where they come
// one upon the other, once a second and after the last one. Not for: what settling is (settle.hpp).
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "server/pipeline/judged_result.hpp"

namespace traceweir::pipeline {

/// Thread: share freely. Outlives its Comings.
class Settlements {
 public:
  /// Settles; does not throw.
  using Settle = std::function<void(Unsettled& unsettled)>;

  /// A run that is about to be judged. At the end of its life the lane is settled, unless another run of it is on its
  /// way that will do it.
  class Coming {
   public:
    Coming(Settlements& settlements, const store::RunHead& head, Settle settle);
    Coming(const Coming&) = delete;
    Coming& operator=(const Coming&) = delete;
    ~Coming();

    /// The run has its result and is in its series.
    void add(Unsettled unsettled);

   private:
    Settlements& settlements_;
    std::string lane_;
    Settle settle_;
  };

 private:
  using Clock = std::chrono::steady_clock;
  /// How long the levels of a series, and notes about them, may lag behind its runs.
  static constexpr std::chrono::milliseconds lag_max{1'000};

  struct Lane {
    int coming = 0;
    bool is_settled_now = false;
    Clock::time_point settled_at{};
    std::map<std::string, Unsettled> waiting{};  ///< by series and policy
  };

  void leave(const std::string& lane, const Settle& settle);
  std::optional<std::map<std::string, Unsettled>> take_due(const std::string& lane);
  void note_settled(const std::string& lane);

  std::mutex mutex_;
  std::map<std::string, Lane> lanes_;
};

}  // namespace traceweir::pipeline
