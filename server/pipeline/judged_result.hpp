// For: the result of a run that was measured: judged, explained, as it is stored; and what it shows of its series.
// Not for: reading uploads, or the order of the stages (run_pipeline.hpp).
#pragma once

#include <optional>
#include <vector>

#include "analyzer/core/error.hpp"
#include "analyzer/report/report.hpp"
#include "server/pipeline/judging.hpp"
#include "server/pipeline/policy_choice.hpp"
#include "server/pipeline/run_pipeline.hpp"

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

/// What the run, which is judged and in its series, shows of it; who is to be told of that joins the notices. It has
/// its result already: a store that is away now costs a note, and the next run finds the same. Thread: blocks.
void settle_series(const Stages& stages, const store::Project& project, const store::RunHead& head,
                   const Measured& measured, Walked& walked);

}  // namespace traceweir::pipeline
