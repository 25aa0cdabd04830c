#include "gate/membership.hpp"

#include <algorithm>

namespace traceweir::gate {

bool keeps_out(const RuleResult& rule) {
  return rule.outcome == Outcome::fail || (rule.outcome && rule.reason == Reason::needs_confirmation);
}

bool keeps_out(const Verdict& verdict) {
  return std::any_of(verdict.rules.begin(), verdict.rules.end(),
                     [](const RuleResult& rule) { return keeps_out(rule); });
}

}  // namespace traceweir::gate
