// For: lists: runs, history, a commit, both ways where the client reads them. Source: the HTTP contract, docs/api.md.
// Not for: one run (run_document.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"
#include "analyzer/core/metric.hpp"
#include "gate/verdict.hpp"
#include "server/wire/run_document.hpp"

namespace traceweir::wire {

/// One value of a metric's history. Units: the metric's.
struct HistoryPoint {
  std::string run, commit, branch, environment;
  std::optional<Timestamp> committed_at;
  Timestamp uploaded_at{};
  double value = 0;
  std::optional<gate::Outcome> outcome;
  std::string subject, author;            ///< of the commit; empty where it was never registered
  bool superseded = false;                ///< a later attempt took its place
  bool accepted = false;                  ///< somebody accepted its level, and that is in force
  bool in_baseline = false;               ///< later runs are compared with it
  std::optional<gate::NoiseBand> band{};  ///< that it was judged by
};

/// A change of level. Units: the metric's.
struct HistoryChange {
  std::string run, commit, previous_commit, environment;
  double before = 0, after = 0, magnitude = 0, p = 1;
  std::optional<bool> better;  ///< nothing: the metric has no better side
  bool accepted = false;
};

/// A stretch of one level. Units: the metric's.
struct HistorySegment {
  std::string environment, first_run, first_commit, last_run, last_commit;
  std::int64_t runs = 0;
  double level = 0, noise = 0;
  std::string began;  ///< `first`, `epoch`, `improvement`, `acceptance`
};

/// Shape: everything in commit order, oldest first.
struct HistoryDocument {
  std::string metric, unit;
  Better better = Better::none;
  std::vector<HistoryPoint> points;
  std::vector<HistoryChange> changes{};
  std::vector<HistorySegment> segments{};
};

/// Cost: linear, without a tree of values: a page holds up to 10 000 points.
std::string to_json(const HistoryDocument& history);
/// RFC 4180, with a header line; texts that a spreadsheet would take for a formula are quoted with an apostrophe.
std::string to_csv(const HistoryDocument& history);
/// Errors: bad_body, naming the key.
Result<HistoryDocument> history_from_json(std::string_view text);

/// A page of runs, newest first. `next`: path of the next page; empty: the last one.
std::string runs_to_json(const std::vector<RunDocument>& runs, std::string_view next);
struct RunPage {
  std::vector<RunAnswer> runs;
  std::string next;
};
/// Errors: bad_body, naming the key.
Result<RunPage> runs_from_json(std::string_view text);

/// All runs of a commit and the commit's outcome: the latest of each workload, the worst over workloads.
std::string commit_to_json(std::string_view sha, const std::optional<gate::Outcome>& outcome,
                           const std::vector<RunDocument>& runs);

}  // namespace traceweir::wire
