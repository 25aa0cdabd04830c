// For: report + baseline + policy → verdict. Pure: no clock, no database, no randomness; the same values give the same
// verdict.
// Not for: choosing the baseline or the policy (server/pipeline).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/finding.hpp"
#include "analyzer/metrics/measure.hpp"
#include "gate/policy.hpp"
#include "gate/verdict.hpp"

namespace traceweir::gate {

/// One run as the judge sees it.
struct JudgedRun {
  std::string id;
  std::vector<metrics::Measurement> measurements;  ///< of the run
  std::vector<Finding> findings;                   ///< of all its ranks and of the run
  std::int64_t ranks_expected = 1, ranks_present = 1;
};
/// The run's row of a metric, not owned; null: it has none.
const metrics::Measurement* measurement_of(const JudgedRun& run, std::string_view metric);

/// One value of a baseline run. `segment` 0 is the current one, 1 the one before, …
struct BaselinePoint {
  std::string run;
  std::string commit;
  double value;
  std::int64_t segment = 0;
};

/// A regression that somebody accepted: from this run on its level is the baseline of the metric. Expired ones are not
/// handed over: the judge has no clock.
struct Acceptance {
  std::string run, commit;
  double value = 0;  ///< of that run
  std::string author, reason;
  std::string until;  ///< a date; empty: for ever
};

/// A tag or run that the policy pins, so that many small steps do not add up unseen.
struct PinnedBaseline {
  std::string name;                                          ///< as the policy has it
  std::map<std::string, std::vector<BaselinePoint>> series;  ///< metric → values of its runs; empty: there is none
  std::map<std::string, Acceptance> accepted;  ///< metric → the newest level accepted since: the pin moved there
};

/// What the values of a metric are. Those of the job's own metrics come with their values.
struct ValueKind {
  Unit unit = Unit::count;
  Better better = Better::none;
};

/// The values that a run is compared with, read once from the store.
struct Baseline {
  /// metric → values of comparable baseline runs, newest first (at most 100; those of segment 0 come first).
  std::map<std::string, std::vector<BaselinePoint>> series;
  std::map<std::string, Acceptance> accepted;  ///< metric → what began its segment 0
  std::optional<PinnedBaseline> pinned;
  std::map<std::string, ValueKind> kinds;  ///< metrics of the job's own → as the newest of these runs has them
  std::string branch;
  std::string ancestry = "none";      ///< `known`, `unknown`, `none`
  std::vector<std::string> runs;      ///< ids, newest first
  std::vector<std::string> notes;     ///< e.g. "nearest measured ancestor of … is …"
  std::int64_t other_class_runs = 0;  ///< runs of the branch that are not comparable
  enum class Place { baseline_branch, elsewhere };
  Place place = Place::baseline_branch;  ///< elsewhere: a pull request or another branch
};

/// Judges the newest run of a commit.
/// Shape: `runs` are the commit's runs of this workload and class, oldest first, not superseded; at least one; the last
///        is the one that is answered.
Verdict judge(std::span<const JudgedRun> runs, const Baseline& baseline, const Policy& policy);

}  // namespace traceweir::gate
