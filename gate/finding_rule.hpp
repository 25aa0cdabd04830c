// For: a finding as a rule: whether it was made, and whether it could have been.
// Not for: making findings (analyzer/findings).
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "gate/judge.hpp"
#include "gate/judge_rule.hpp"

namespace traceweir::gate {

/// A finding that was made counts even where data are lost. One that was not made proves nothing there, nor where the
/// run has nothing to make it from: no trace, no GPU work, no steps, or one rank where ranks are compared.
RuleResult judge_finding(const FindingRule& rule, const JudgedRun& run, const std::optional<Obstacle>& obstacle);

/// Metrics that tell what findings can be made from: who hands over a run without all its measurements keeps these.
std::span<const std::string_view> finding_evidence();

}  // namespace traceweir::gate
