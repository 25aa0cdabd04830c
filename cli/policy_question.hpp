// For: asking the service about a policy's text: what it does, what it would have done.
// Not for: reading the file (repository_policy.hpp), printing answers.
#pragma once

#include <string>

#include "analyzer/core/error.hpp"
#include "cli/connection.hpp"

namespace traceweir::cli {

struct PolicyQuestion {
  ConnectionOptions connection;
  std::string what;  ///< `check`, `backtest`
  std::string workload, branch, since;
  std::string policy;  ///< TOML; empty: the one in force
};

/// The service's answer. Errors: those of the connection; the service's by its word.
Result<std::string> ask_about(const PolicyQuestion& question);

/// The text of the policy in `file`, or of the repository's own where it is empty; empty where there is none.
/// Errors: bad_policy, io_failed.
Result<std::string> policy_text(const std::string& file);

}  // namespace traceweir::cli
