// For: what a running service does from time to time: removes what is too old, too much, or nobody's.
// Not for: how often (service.cpp), or what may go (server/pipeline/keeping.hpp).
#pragma once

#include <chrono>
#include <functional>

#include "analyzer/core/error.hpp"
#include "server/pipeline/keeping.hpp"
#include "server/spool/blob_store.hpp"
#include "server/spool/spool.hpp"
#include "server/store/store.hpp"

namespace traceweir::app {

/// How long an upload may stand still before its half is nobody's.
inline constexpr std::chrono::hours stale_after{1};
/// How often what is too old, too much or nobody's is looked for.
inline constexpr std::chrono::minutes upkeep_pause{60};

struct Household {
  const spool::Spool& spool;
  spool::BlobStore& blobs;
  store::Store& store;
  pipeline::KeepingLimits limits;
  std::function<store::Timestamp()> now;
  std::function<bool()> stops;  ///< whether what takes long is to end
};

/// Removes halves of uploads that were not written to for so long. Errors: io_failed.
Result<void> sweep_parts(const spool::Spool& spool, std::chrono::seconds age);

/// The same, of those that are certainly nobody's; what fails is in the log.
void sweep_left_overs(const spool::Spool& spool);

/// Each part by itself: one that fails is in the log and is looked at the next time. Several services of one store may
/// do this at once. Thread: blocks.
void look_after(const Household& household);

}  // namespace traceweir::app
