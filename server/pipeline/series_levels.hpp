// For: what a series of comparable runs shows: where levels changed, its segments, and which drifts are news. Pure.
// Source: spec of the gate, sections 3 and 5. Not for: reading or keeping any of it (drift.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/core/metric.hpp"
#include "server/store/store.hpp"

namespace traceweir::pipeline {

struct SeriesQuestion {
  const store::Series& series;
  std::string metric;
  Better side = Better::none;
  std::int64_t min_runs = 5;
  std::optional<store::Timestamp> epoch{};
  std::span<const store::Acceptance> acceptances;  ///< in force, newest first
};

struct SeriesAnswer {
  std::vector<store::StoredChange> changes;
  std::vector<store::StoredSegment> segments;
  std::vector<store::StoredChange> drifts;  ///< of `changes`: worse, not accepted, recent, and not told before
};

/// Shape: changes and segments in commit order. Units: the metric's.
/// Cost:  that of gate::change_points for the series.
SeriesAnswer levels_of(const SeriesQuestion& question);

/// Where an acceptance stands in a series: at its run, else at the first run of its commit, or of one that merged it.
std::optional<std::size_t> place_in(const std::vector<store::SeriesRun>& runs, const store::Acceptance& acceptance);

/// "drift: step.time_p50 rose 4 % between a1b2c3 and d4e5f6".
std::string drift_sentence(const std::string& metric, Unit unit, const store::StoredChange& change);

/// A drift is told while its change is among so many of the newest runs: what happened long ago is no news.
inline constexpr std::size_t recent_runs = 50;
/// A change within so many runs of one that was told is the same: its place moves a little while more runs come.
inline constexpr std::size_t same_change_runs = 8;

}  // namespace traceweir::pipeline
