// For: the parts of one metric's difference, from exact rows to the few that a person is shown.
// Not for: where the parts come from (explain.hpp), sentences (causes.hpp).
#pragma once

#include <string>
#include <vector>

#include "gate/run_side.hpp"

namespace traceweir::gate {

/// One part of a difference, before small ones are put together. Units: those of the metric.
struct Part {
  TermKey key;
  double delta = 0;
  std::string note;
};

/// `allreduce 64 MiB`, `h2d copies`, `waiting for input`: what a row is called.
std::string name_of(const TermKey& key);

/// The parts as a person is shown them: those below 2 % of the difference, those beyond the tenth row, and what the
/// parts leave open of `delta` are one row `other`.
/// Shape: the largest first, `other` last, no row of 0; they add up to `delta`.
std::vector<Contribution> contributions_of(std::vector<Part> parts, double delta);

/// Makes two sides' sums comparable: what one side lacks is compared as the rest, where that side's list was cut.
void fold_missing(TermSums& base, TermSums& head);

/// head - base, key by key.
std::vector<Part> differences(const TermSums& base, const TermSums& head);

/// The parts of the mean duration of a collective's calls: per message size b with share w and mean t
/// w̄·Δt ("slower"; where ranks are matched on both sides its transfer and its waiting) and (t̄ - mean)·Δw ("mix"), bars
/// are means of both sides. A size that one side lacks is mix with its own t. Source: spec of the gate, section 7.
/// Units: ns.
std::vector<Part> collective_parts(timeline::Collective kind, Sizes base, Sizes head);

}  // namespace traceweir::gate
