// For: the reasons of a verdict: this run beside the baseline run that stands for the level of each worse metric.
// Not for: the reasons themselves (gate/explain.hpp), what is worse (gate/judge.hpp).
#pragma once

#include <string>

#include "analyzer/core/error.hpp"
#include "analyzer/report/report.hpp"
#include "gate/judge.hpp"
#include "server/pipeline/recent_runs.hpp"
#include "server/store/store.hpp"

namespace traceweir::pipeline {

/// As many metrics of a verdict are explained, the worst first: each may cost the reading of another run's report.
inline constexpr std::size_t explanations_max = 8;

/// The baseline run of a metric that is at the lower median of the current level; empty: there is none.
/// Shape: of the newest `runs` values of segment 0.
std::string median_run(const gate::Baseline& baseline, const std::string& metric, std::int64_t runs);

/// What was judged, and by what.
struct ExplainQuestion {
  const std::string& project;
  const report::Report& report;
  const gate::Baseline& baseline;
  const gate::Policy& policy;
  const RecentRuns* recent = nullptr;  ///< where reports need not be read; nullptr: none is known
};

/// Puts explanations, facts, a changed workload and, where the policy has a price, the cost into `verdict`. What cannot
/// be explained (a metric without a decomposition, a baseline run whose report is gone) is left out.
/// Errors: store_unavailable.
Result<void> explain(store::Store& store, const ExplainQuestion& question, gate::Verdict& verdict);

/// Puts the explanations of a stored verdict into one that was judged again: they come from reports, which the judge
/// never sees, and are no part of what is judged.
void carry_explanations(const gate::Verdict& stored, gate::Verdict& now);

}  // namespace traceweir::pipeline
