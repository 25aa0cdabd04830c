// For: the answers of …/policy/check and …/policy/backtest, both ways. Not for: policies themselves (gate), which are
// TOML.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"
#include "gate/lane_backtest.hpp"
#include "gate/outlook.hpp"

namespace traceweir::wire {

/// What a policy would do to the next run.
struct OutlookDocument {
  std::vector<gate::RuleOutlook> rules;
  std::vector<std::string> about;  ///< sentences about the policy as a whole
};
std::string to_json(const OutlookDocument& document);
/// The sentences, the rules' first. Errors: bad_body, naming the key.
Result<std::vector<std::string>> sentences_from_json(std::string_view text);

/// What a policy would have done to the runs so far.
struct BacktestDocument {
  std::string policy_sha256;
  gate::LaneBacktest backtest;
  std::vector<std::string> notes;
};
std::string to_json(const BacktestDocument& document);
/// Errors: bad_body, naming the key.
Result<BacktestDocument> backtest_from_json(std::string_view text);

}  // namespace traceweir::wire
