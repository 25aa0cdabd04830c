// For: keeping a series right after something changed it, a run or an acceptance: which of its runs are in the
// baseline, where its level changed, its segments, and what of that is news. Not for: finding any of it
// (series_levels.hpp), or judging (judging.hpp).
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "analyzer/core/error.hpp"
#include "analyzer/core/metric.hpp"
#include "analyzer/report/report.hpp"
#include "gate/policy.hpp"
#include "server/pipeline/notice.hpp"
#include "server/pipeline/recent_runs.hpp"
#include "server/store/store.hpp"

namespace traceweir::pipeline {

/// What changed its series.
struct SeriesCause {
  const store::Project& project;
  const store::RunHead& head;    ///< of the run, or of the accepted run
  const report::Report& report;  ///< of the same
  const gate::Policy& policy;    ///< of the same
  const std::string& comparable_key;
  store::Timestamp now;
  const RecentRuns* recent = nullptr;  ///< nullptr: all are read from the store
};

/// The run's verdict as it is to be stored with these notes added.
using VerdictWith = std::function<std::string(const std::vector<std::string>& notes)>;

/// The metrics of its series that are analysed: every gated metric of the run and the built-in ones, each with its unit
/// and better side.
std::map<std::string, MetricInfo> analysed_metrics(const SeriesCause& cause);

/// A run that has its result. What was judged from a time on knew all that was finished before it.
struct FinishedRun {
  std::string id;
  std::chrono::steady_clock::time_point judged_from{};  ///< before its last judging read anything
  std::chrono::steady_clock::time_point finished{};     ///< after its result was kept
};

/// Runs of one series that have their results and are settled together.
struct SettledRuns {
  SeriesCause newest;                         ///< the one that was finished last
  std::vector<FinishedRun> runs;              ///< all of them
  std::map<std::string, MetricInfo> metrics;  ///< analysed_metrics() of all of them
};

/// After runs of the baseline branch have their results. The other runs of their commits follow what is found with it:
/// a commit whose verdict is fail, or waits for confirmation, has no run in the baseline. One that lands before others,
/// since its commit does, has these looked at again: whether they are in the baseline does not depend on the order of
/// uploads. Not so those of the given ones that knew it, as long as no commit before them is looked at. Then changes
/// and segments are found and kept, with a note in the newest run's verdict for each drift that was revealed. Returns
/// the drifts.   Errors: what the store says; the runs keep their results.   Thread: blocks.
Result<std::vector<Notice>> settle_runs(store::Store& store, const SettledRuns& settled,
                                        const VerdictWith& verdict_with);
/// The same of one run. Errors: as above.
Result<std::vector<Notice>> settle_run(store::Store& store, const SeriesCause& cause, const VerdictWith& verdict_with);

/// After an acceptance of a run was made or undone: runs of its level that failed are looked at again.
/// Errors: what the store says.   Thread: blocks.
Result<void> settle_acceptance(store::Store& store, const std::string& project, const std::string& run,
                               store::Timestamp now);

/// After a run was deleted: the later commits of its series are looked at again without it, and its levels.
/// `run`: as it was. Errors: what the store says.   Thread: blocks.
Result<void> settle_deletion(store::Store& store, const store::RunRecord& run, store::Timestamp now);

/// The runs of at most so many commits are looked at again at once.
inline constexpr std::size_t reconsidered_commits_max = 100;
/// At most so many metrics of a series are analysed, and so many values in all: of many metrics fewer runs each.
inline constexpr std::size_t analysed_metrics_max = 100;
inline constexpr std::int64_t analysed_values_max = 100'000;

}  // namespace traceweir::pipeline
