// For: settling a series once for several runs of it that are done at the same time here, since each time reads all of
// the series. Where one run of a project comes alone, its series is settled before anybody is told its verdict; where
// they come one upon the other, once a second and after the last one. Not for: what settling is (settle.hpp).
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "server/pipeline/judged_result.hpp"

namespace traceweir::pipeline {

/// Thread: share freely. Outlives those who come.
class Settlements {
 public:
  /// Settles; does not throw.
  using Settle = std::function<Settled(const Unsettled& unsettled)>;

  /// A run that is on its way to its verdict. At the end of its life what is due in its project is settled, unless
  /// another run of it is on its way that will do it.
  class Coming {
   public:
    Coming(Settlements& settlements, std::string project, Settle settle);
    Coming(const Coming&) = delete;
    Coming& operator=(const Coming&) = delete;
    ~Coming();

    /// The run has its result and is in its series.
    void add(Unsettled unsettled);

   private:
    Settlements& settlements_;
    std::string project_;
    Settle settle_;
  };

  /// A run of the project that will be Coming, or not. It keeps others waiting as that does, and settles nothing.
  class Expected {
   public:
    Expected(Settlements& settlements, std::string project);
    Expected(const Expected&) = delete;
    Expected& operator=(const Expected&) = delete;
    ~Expected();

   private:
    Settlements& settlements_;
    std::string project_;
  };

  /// Projects in which something is due for longer than it may be, since all who are on their way take long.
  std::vector<std::string> overdue();
  /// Settles once what waits, whoever is on their way. At the end.
  void settle_all(const Settle& settle);

 private:
  using Clock = std::chrono::steady_clock;
  /// How long the levels of a series, and notes about them, may lag behind its runs.
  static constexpr std::chrono::milliseconds lag_max{1'000};
  /// A store that is away is asked again at once, then less and less: what it refuses may be what takes it so long.
  static constexpr std::chrono::seconds pause_max{60};
  static std::chrono::seconds pause_after(int failed) {
    return std::min(pause_max, std::chrono::seconds{std::max(0, failed - 1)});
  }

  using Waiting = std::map<std::string, Unsettled>;

  struct Project {
    int coming = 0;
    bool is_settled_now = false;
    int failed = 0;  ///< how often in a row something was left
    Clock::time_point settled_at{};
    Waiting waiting{};  ///< by series and policy

    [[nodiscard]] bool may_lag() const { return coming > 0 && Clock::now() - settled_at < lag_max; }
    [[nodiscard]] bool is_overdue() const {
      return !waiting.empty() && !is_settled_now && !may_lag() && Clock::now() - settled_at >= pause_after(failed);
    }
  };

  void come(const std::string& project);
  void go(const std::string& project);
  void leave(const std::string& project, const Settle& settle);
  static void add_to(Waiting& waiting, const std::string& series, Unsettled newer);
  std::optional<Waiting> take_due(const std::string& project);
  /// Those that could not be settled, which wait again.
  Waiting settled(Waiting due, const Settle& settle);
  void note_settled(const std::string& project, Waiting left);

  std::mutex mutex_;
  std::map<std::string, Project> projects_;
};

}  // namespace traceweir::pipeline
