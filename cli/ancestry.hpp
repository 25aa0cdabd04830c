// For: telling the service the commits before the one that is measured, so that it finds the right baseline.
// Not for: asking git (git.hpp).
#pragma once

#include <string>

#include "analyzer/core/error.hpp"
#include "cli/client.hpp"

namespace traceweir::cli {

/// Which commits are told: those before `commit` and before `base` (empty: none), as far as the work tree has them.
struct AncestryOf {
  std::string project, commit, base;
};

/// Sends the newest first-parent ancestors. Without a work tree nothing is sent. A service that refuses is said on
/// stderr: the run is then compared with the newest runs of the branch.
/// Errors: unreachable.
Result<void> send_ancestry(const Client& client, const AncestryOf& of);

}  // namespace traceweir::cli
