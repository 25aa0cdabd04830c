// For: the reports of runs that were judged here a moment ago, which those that come next are compared with: read once,
// not out of the store and parsed again for each. Not for: what may change of a run.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string_view>

#include "analyzer/report/report.hpp"
#include "server/store/store.hpp"

namespace traceweir::pipeline {

/// Thread: share freely.
class RecentRuns {
 public:
  /// What of a judged run never changes.
  struct Run {
    store::RunHead head;
    std::string comparable_key;
    report::Report report;
  };

  /// `report_bytes`: of the report as JSON; large ones are not kept.
  void add(Run run, std::size_t report_bytes);
  /// nullptr: it is not among them, or no id at all.
  [[nodiscard]] std::shared_ptr<const Run> find(std::string_view id) const;

 private:
  static constexpr std::size_t runs_max = 16;
  static constexpr std::size_t report_bytes_max = std::size_t{256} * 1024;

  mutable std::mutex mutex_;
  std::list<std::shared_ptr<const Run>> runs_;  ///< newest first
};

}  // namespace traceweir::pipeline
