// For: what a git work tree says of the commit that is measured. Not for: CI variables (ci_environment).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/wire/commit_list.hpp"

namespace traceweir::cli {

/// The output of `git ARGUMENTS…` without its last newline; nothing when git fails or is not there.
std::optional<std::string> git(const std::vector<std::string>& arguments);

struct GitFacts {
  std::string commit;                ///< of HEAD; empty: no work tree
  std::string branch;                ///< empty: detached
  std::vector<std::string> parents;  ///< of HEAD
};
GitFacts git_facts();

/// A commit with its newest first-parent ancestors.
struct Ancestry {
  std::vector<wire::CommitRow> commits;  ///< newest first; empty: the work tree does not have the commit
  bool cut = false;                      ///< the clone is shallow, and ends here
};
Ancestry git_ancestry(const std::string& commit, std::size_t commits_max);

}  // namespace traceweir::cli
