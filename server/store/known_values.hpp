// For: values of finished runs that were read a moment ago: a run's values never change, and every upload asks for
// those of the same hundred runs again. Not for: what may change of a run, or which runs there are.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory_resource>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace traceweir::store {

/// Values of some metrics of some runs.
/// Shape: `values` has a row for each run, in it a value for each metric. Units: each metric's own, nothing: the run
/// has no such value.
struct ValueTable {
  ValueTable(std::vector<std::string> run_ids, std::vector<std::string> metric_names)
      : runs(std::move(run_ids)), metrics(std::move(metric_names)), values(runs.size() * metrics.size()) {}

  std::vector<std::string> runs;     ///< ids: they name one run in all stores and times
  std::vector<std::string> metrics;  ///< each once
  std::vector<std::optional<double>> values;

  [[nodiscard]] std::span<std::optional<double>> row(std::size_t run) {
    return std::span(values).subspan(run * metrics.size(), metrics.size());
  }
  [[nodiscard]] std::span<const std::optional<double>> row(std::size_t run) const {
    return std::span(values).subspan(run * metrics.size(), metrics.size());
  }
};

/// What was read first goes first, one run after the other: memory stays what it is, where all at once would make it
/// rise and fall. It lies in a pool of its own: among what each request needs and gives back, small pieces that stay
/// for minutes would hold ever more of the heap.
/// Thread: share freely.
class KnownValues {
 public:
  using Clock = std::chrono::steady_clock;
  explicit KnownValues(std::function<Clock::time_point()> now = &Clock::now) : now_(std::move(now)) {}

  /// Writes the values that are known into the table. Returns the numbers of the runs of which some are not, in order.
  std::vector<std::size_t> fill(ValueTable& table);
  /// These runs' rows of the table are as the store has them.
  void keep(const ValueTable& table, std::span<const std::size_t> runs);
  void clear();

 private:
  /// 30 bytes each where many metrics are asked for, up to 240 where one is.
  static constexpr std::size_t values_max = 250'000;
  /// Other processes may remove values that are too old; nobody tells of that.
  static constexpr std::chrono::minutes age_max{5};

  using Numbers = std::vector<std::uint32_t>;  ///< of metrics
  struct Run {
    std::pmr::string id;
    Clock::time_point since;
    std::pmr::vector<std::pair<std::uint32_t, std::optional<double>>> values;
  };

  Numbers numbers_of(const std::vector<std::string>& metrics);
  Run& run_of(const std::string& id);
  void forget_first();
  void forget_all();

  std::function<Clock::time_point()> now_;
  std::mutex mutex_;
  std::map<std::string, std::uint32_t, std::less<>> metrics_;
  std::pmr::unsynchronized_pool_resource pool_;
  std::pmr::list<Run> runs_{&pool_};  ///< the first that was read in front
  std::pmr::unordered_map<std::string_view, std::pmr::list<Run>::iterator> places_{&pool_};
  std::size_t count_ = 0;  ///< values
};

}  // namespace traceweir::store
