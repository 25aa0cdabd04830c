// For: `traceweir backtest --project`: what a policy would have said about the stored runs of a branch.
// Not for: plain series (backtest.cpp).
#pragma once

#include <string>

#include "cli/connection.hpp"

namespace traceweir::cli {

struct PastBacktestOptions {
  ConnectionOptions connection;
  std::string policy, workload, branch, since;  ///< policy: a file; empty: the policy in force on the server
};

/// Prints the answer. Returns the exit code: 1 where anything would have failed.
int past_backtest(const PastBacktestOptions& options, OutputForm form);

}  // namespace traceweir::cli
