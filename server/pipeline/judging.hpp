// For: judging a run whose report is there: what it is compared with is read from the store, and handed to the judge.
// Not for: making reports, or recording what was judged (run_pipeline.hpp).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analyzer/core/error.hpp"
#include "analyzer/report/report.hpp"
#include "gate/judge.hpp"
#include "gate/policy.hpp"
#include "gate/verdict.hpp"
#include "server/pipeline/recent_runs.hpp"
#include "server/store/store.hpp"
#include "server/wire/judge_inputs.hpp"

namespace traceweir::pipeline {

struct JudgeQuestion {
  const store::RunHead& head;
  const report::Report& report;
  const gate::Policy& policy;
  const std::string& comparable_key;
  store::Timestamp now;  ///< acceptances that ended before are not in force
};

/// The runs of the commit and workload that had their verdict when another one was judged.
struct Beside {
  std::int64_t runs = 0;
  store::Timestamp newest{};  ///< when the last of them got it; the epoch where there is none
};

/// Errors: what the store says.
Result<Beside> beside_of(store::Store& store, const store::RunHead& head);

struct JudgedVerdict {
  gate::Verdict verdict;
  gate::Baseline::Place place = gate::Baseline::Place::elsewhere;
  bool in_series = false;                        ///< a whole run of the baseline branch, failed or not
  bool in_baseline = false;                      ///< whether later runs may be compared with this one
  std::vector<std::string> leans_on;             ///< ids of the acceptances without which they might not
  std::map<std::string, gate::NoiseBand> bands;  ///< metric → the band that its value was judged by
  Beside beside{};                               ///< what the verdict knows, or leaves out for a reason
  wire::JudgeInputs inputs;                      ///< what the judge was given; its notes are not in the verdict yet
};

/// The metrics whose history a verdict on such a run needs: those of the policy's rules and, where it has a price,
/// those of the cost.
std::vector<std::string> asked_metrics(const gate::Policy& policy, const report::Report& report);

/// A run as the judge sees it: its values in base units, and the findings of all its ranks.
gate::JudgedRun judged_run(const store::RunHead& head, const report::Report& report);

/// Reads what the run is compared with, and judges it. A run that passes only thanks to acceptances says which.
/// Errors: what the store says.
/// Thread: blocks.
Result<JudgedVerdict> judge_run(store::Store& store, const JudgeQuestion& question);

/// Judges a stored run once more, with the other runs of its commit, by its own policy as things are now: whether they
/// belong to the baseline. Its verdict stays as it was given.
/// Errors: not_found, and what the store says.
Result<store::Membership> membership_of(store::Store& store, const store::Project& project, const std::string& run,
                                        store::Timestamp now, const RecentRuns* recent = nullptr);

}  // namespace traceweir::pipeline
