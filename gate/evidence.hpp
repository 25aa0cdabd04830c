// For: what else changed about a cause, in a few words, from the metrics of both runs: calls a step, message sizes,
// pageable memory. Not for: the size of the cause itself.
#pragma once

#include <string>
#include <string_view>

#include "gate/run_side.hpp"

namespace traceweir::gate {

/// `3`, `2.5`: a mean of counts.
std::string count_text(double count);
/// `12 calls a step of 12.5 MiB instead of 6 of 25 MiB`; `14 calls a step of 64 MiB` where they did not change; empty
/// where the trace has no steps.
std::string calls_text(const RunSide& base, const RunSide& head, timeline::Collective kind);
/// `7 synchronisations a step instead of 1`; empty where that did not change.
std::string syncs_text(const RunSide& base, const RunSide& head);
/// `52 kernels a step instead of 40`; empty where that did not change.
std::string launches_text(const RunSide& base, const RunSide& head);
/// `100 % of the bytes from pageable memory instead of 0 %`, `24 MiB a step instead of 12 MiB`; empty where neither
/// changed.
std::string copies_text(const RunSide& base, const RunSide& head, std::string_view direction);

/// `the network takes 1.3 ms a call instead of 0.44 ms, `; empty where that did not change or ranks are not matched.
std::string transfer_text(const RunSide& base, const RunSide& head, timeline::Collective kind);

/// Whether a collective's calls became longer (or shorter) because ranks wait rather than because the network is slow.
enum class Slower { unknown, transfer, wait };
Slower slower_by(const RunSide& base, const RunSide& head, timeline::Collective kind);

}  // namespace traceweir::gate
