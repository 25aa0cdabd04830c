// For: the result of a run that was measured: judged, explained, as it is stored; and what it shows of its series.
// Not for: reading uploads, or the order of the stages (run_pipeline.hpp).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/core/error.hpp"
#include "analyzer/core/metric.hpp"
#include "analyzer/report/report.hpp"
#include "server/pipeline/judging.hpp"
#include "server/pipeline/policy_choice.hpp"
#include "server/pipeline/run_pipeline.hpp"
#include "server/pipeline/settle.hpp"

namespace traceweir::pipeline {

/// What was found in a run's uploads, and what it is judged by.
struct Measured {
  ChosenPolicy chosen;
  report::Report report;
};

/// What is to be stored of a run, and who is to be told once it is.
struct Walked {
  store::RunResult result;
  std::vector<Notice> notices;
  std::optional<JudgedVerdict> judged;
};

/// Judges the run as things are now. Its result says what it knows of the commit's other runs (`beside`), so that the
/// store can refuse it where another one was finished meanwhile.
/// Errors: what the store says.
/// Thread: blocks.
Result<Walked> judge(const Stages& stages, const store::Project& project, const store::RunRecord& run,
                     const Measured& measured);

/// A run that is judged and in its series, or several of which the newest is told of.
struct Unsettled {
  store::Project project;
  store::RunHead head;
  Measured measured;
  Walked walked;
  std::vector<FinishedRun> runs;              ///< SettledRuns::runs
  std::map<std::string, MetricInfo> metrics;  ///< SettledRuns::metrics
};
/// Of a run that has its result. Its documents are in the store, and not kept.
Unsettled unsettled(const store::Project& project, const FinishedRun& times, const store::RunHead& head,
                    Measured measured, Walked walked);

/// What the runs show of their series. Who is to be told of that. They have their results already.
/// Errors: what the store says. Thread: blocks.
Result<std::vector<Notice>> settle_series(const Stages& stages, const Unsettled& unsettled);

}  // namespace traceweir::pipeline
