// For: what the store remembers of levels: acceptances, series in commit order, their changes and segments, as values.
// Not for: the verbs (store.hpp), or finding changes (gate/change_points.hpp, server/pipeline).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "server/store/timestamp.hpp"

namespace traceweir::store {

/// A regression that somebody accepted: from its run on that level is the baseline of its metrics.
struct Acceptance {
  std::string id;  ///< UUIDv7, made by the service
  std::string project, run;
  bool every_metric = false;             ///< whether all were accepted, and not some by name
  std::map<std::string, double> values;  ///< of its metrics, as the run has them: the accepted levels
  std::string reason, author;
  std::string token;  ///< id of the token that it came with
  Timestamp created_at{};
  std::optional<Timestamp> until, undone_at{};
  std::string undone_by{};
  // of the run; filled when it is read
  std::string workload{}, branch{}, commit{}, comparable_key{};
  Timestamp run_received_at{};
  std::vector<std::string> children{};  ///< children of its commit, and theirs, nearest first; with `in_force_at` only
};

/// Empty fields do not filter; newest first.
struct AcceptanceFilter {
  std::string project{}, run{}, workload{}, comparable_key{};
  std::optional<Timestamp> in_force_at{};  ///< neither undone nor at its end at this time
  std::int64_t limit = 1'000;
};

/// Undoes what is accepted of a run.
struct Undoing {
  std::string project, run;
  Timestamp at{};
  std::string by;
};

/// Whether a run is in the baseline, and the acceptances without which it would not be.
struct Membership {
  std::string run;
  bool in_baseline = false;
  std::vector<std::string> leans_on;  ///< ids of acceptances
  std::optional<bool> in_series{};    ///< nothing: as it was
};

/// The comparable runs of a branch and workload.
struct SeriesKey {
  std::string project{}, workload{}, branch{}, comparable_key{};
};

struct SeriesQuery {
  SeriesKey key{};
  std::vector<std::string> metrics{};
  Timestamp now{};  ///< acceptances that ended before do not count
  std::int64_t limit = 10'000;
};

struct SeriesRun {
  std::string run, commit;
  bool counts = false;  ///< in the baseline now
  Timestamp received_at{};
  std::optional<Timestamp> committed_at;
};

/// Shape: runs in commit order, oldest first; each list of values has one for each run, nothing where it has none.
struct Series {
  std::int64_t version = 0;  ///< changes whenever a run or an acceptance changes the series
  std::vector<SeriesRun> runs;
  std::map<std::string, std::vector<std::optional<double>>> values;
  std::map<std::string, std::vector<std::string>> told;  ///< metric → first runs of drifts that were told
};

/// A change of a metric's level. Units: the metric's.
struct StoredChange {
  std::string run, previous_run;  ///< the first of the new level, and the one before it
  double before = 0, after = 0, magnitude = 0, p = 1;
  std::optional<bool> better;  ///< nothing: the metric has no better side
  std::string acceptance{};    ///< id; empty: nobody accepted it
  // filled when it is read
  std::string commit{}, previous_commit{}, comparable_key{};
  bool accepted = false;  ///< by an acceptance that is in force
};

enum class Began { first, epoch, improvement, acceptance };
std::string_view word(Began began);
std::optional<Began> began_of(std::string_view word);

/// A stretch of one level. Units: the metric's.
struct StoredSegment {
  std::string first_run, last_run;
  std::int64_t runs = 0;  ///< that are in the baseline
  double level = 0, noise = 0;
  Began began = Began::first;
  // filled when it is read
  std::string first_commit{}, last_commit{}, comparable_key{};
};

/// What was found in a series, in place of what was stored of these metrics.
struct SeriesLevels {
  SeriesKey key;
  std::int64_t version = 0;                                    ///< of the series that it was found in
  std::map<std::string, std::vector<StoredChange>> changes;    ///< by metric; an empty list: there is none
  std::map<std::string, std::vector<StoredSegment>> segments;  ///< by metric
  std::map<std::string, std::vector<std::string>> told;        ///< drifts that are told now, by metric
  std::string run, verdict_json;  ///< the run that revealed them and its verdict with the notes; empty: it stays
};

struct Levels {
  std::vector<StoredChange> changes;    ///< of each class of runs in order of receipt of their first runs
  std::vector<StoredSegment> segments;  ///< the same
};

}  // namespace traceweir::store
