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
};

/// Shape: points in commit order, oldest first.
struct HistoryDocument {
  std::string metric, unit;
  Better better = Better::none;
  std::vector<HistoryPoint> points;
};

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
