// For: reading `[rules."METRIC"]`: its keys, their units, and whether such a rule can hold and can break at all.
// Not for: the other tables (policy_parse.cpp).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "analyzer/core/error.hpp"
#include "gate/policy.hpp"
#include "gate/policy_tree.hpp"

namespace traceweir::gate {

/// Errors: bad_policy.
Result<Rule> parse_rule(const PolicyNode& table, const std::string& path);

/// The keys of a rule, for the JSON schema's test.
std::span<const std::string_view> rule_keys();

}  // namespace traceweir::gate
