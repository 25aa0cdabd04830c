// For: what is to be analysed, as a queue that several processes take from: jobs, claims and their leases, as values.
// Not for: the verbs (store.hpp), or analysing (server/pipeline).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace traceweir::store {

/// One analysis: of a run, or of one upload of a run of several.
struct Job {
  std::string project{}, run{};
  std::optional<std::int64_t> rank{};  ///< of the upload; nothing: the run itself
  std::string holder{};                ///< the claim that it is in; empty: none
  std::int64_t attempts = 0;  ///< strikes (strikes.hpp), with one for a claim that lasts: it may end in silence
};

/// A claim that is wanted. No two claims have the same holder; an empty one claims nothing.
struct Claim {
  std::string holder{};
  std::chrono::milliseconds lease{};  ///< how long it lasts by the database's clock, unless it is renewed
};

/// The end of a claim without a result.
struct Release {
  std::string holder{};
  enum class Attempt { failed, uncounted } attempt = Attempt::uncounted;
  std::chrono::milliseconds pause{};  ///< until the job may be claimed again
};

/// What stands in a job's row in place of a rank where it is the run's own.
inline constexpr std::int64_t whole_run = -1;

/// At most so many jobs are listed.
inline constexpr std::int64_t listed_jobs_max = 10'000;

/// What processes on one store call to each other: "jobs came or went". Only a hint, which may come twice, late or
/// never (a pooler in transaction mode carries none), so whoever listens also looks now and then.
/// Thread: safe from any thread.
class Bell {
 public:
  virtual ~Bell() = default;
  /// Never blocks, never fails; several calls may come out as one.
  virtual void ring() = 0;
};

}  // namespace traceweir::store
