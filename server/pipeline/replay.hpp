// For: judging a stored run again from what its verdict keeps, and where the answer is another one than then.
// Source: spec of the gate, section 6. Not for: reading traces or baselines again.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/core/error.hpp"
#include "server/store/store.hpp"
#include "server/wire/replay_document.hpp"

namespace traceweir::pipeline {

/// `build` is that of this service. Of the same build the verdicts must be equal to the bit, of another one in outcomes
/// and reasons.
/// Errors: conflict (the run has no verdict, or one that was stored without what the judge was given), and those of the
///         store.
/// Thread: blocks.
Result<wire::ReplayDocument> replay(store::Store& store, const store::RunRecord& run, std::string_view build);

}  // namespace traceweir::pipeline
