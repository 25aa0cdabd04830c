// For: judging a run whose report is there: what it is compared with is read from the store, and handed to the judge.
// Not for: making reports, or recording what was judged (run_pipeline.hpp).
#pragma once

#include <string>

#include "analyzer/core/error.hpp"
#include "analyzer/report/report.hpp"
#include "gate/judge.hpp"
#include "gate/policy.hpp"
#include "gate/verdict.hpp"
#include "server/store/store.hpp"
#include "server/wire/judge_inputs.hpp"

namespace traceweir::pipeline {

struct JudgeQuestion {
  const store::RunHead& head;
  const report::Report& report;
  const gate::Policy& policy;
  const std::string& comparable_key;
};

struct JudgedVerdict {
  gate::Verdict verdict;
  gate::Baseline::Place place = gate::Baseline::Place::elsewhere;
  bool in_baseline = false;  ///< whether later runs may be compared with this one
  wire::JudgeInputs inputs;  ///< what the judge was given; its notes are not in the verdict yet
};

/// A run as the judge sees it: its values in base units, and the findings of all its ranks.
gate::JudgedRun judged_run(const store::RunHead& head, const report::Report& report);

/// Errors: what the store says.
/// Thread: blocks.
Result<JudgedVerdict> judge_run(store::Store& store, const JudgeQuestion& question);

}  // namespace traceweir::pipeline
