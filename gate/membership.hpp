// For: what keeps a run out of the baseline of later ones, once it was judged.
// Not for: judging (judge.hpp), or what is kept of it (server/pipeline).
#pragma once

#include "gate/verdict.hpp"

namespace traceweir::gate {

/// Whether the rule fails, or waits for further runs of the commit that are to confirm it. Until these came nobody
/// knows that the level is the old one; a rule that does not count keeps nothing out.
bool keeps_out(const RuleResult& rule);

/// Whether any of its rules does.
bool keeps_out(const Verdict& verdict);

}  // namespace traceweir::gate
