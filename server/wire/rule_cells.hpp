// For: a rule's result as short texts, the same in a terminal, in Markdown and in JUnit. Not for: escaping, deciding.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gate/verdict.hpp"

namespace traceweir::wire {

struct RuleCells {
  std::string metric;
  std::string value;      ///< `68.0 %`; `-`: none
  std::string baseline;   ///< `89.1 % ± 0.4 %`
  std::string runs;       ///< `5 runs`; empty: no baseline
  std::string delta;      ///< `-21.1 pp`
  std::string tolerance;  ///< `3 pp, limit 85 %`
  std::string outcome;    ///< `fail`, `n/a` where the rule does not apply
  std::string reason;     ///< `worse`; of several runs `needs confirmation (1 of 2 runs)`
};
RuleCells cells_of(const gate::RuleResult& rule);

/// The outcome of a rule as a word: `n/a` where it does not apply.
std::string_view outcome_word(const gate::RuleResult& rule);

/// What to do, each advice once, the worst first, with the metrics that it is about. Rules that were not judged speak
/// too where the verdict itself is open.
struct Advice {
  std::string metrics;  ///< `gpu.utilization, gpu.idle`
  std::string next;
};
std::vector<Advice> advice_of(const gate::Verdict& verdict);

/// `learning`, `fail`, …: what a person sees first.
std::string headline_of(const gate::Verdict& verdict);

}  // namespace traceweir::wire
