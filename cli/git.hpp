// For: what a git work tree says of the commit that is measured. Not for: CI variables (ci_environment).
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace traceweir::cli {

/// The output of `git ARGUMENTS…` without its last newline; nothing when git fails or is not there.
std::optional<std::string> git(const std::vector<std::string>& arguments);

struct GitFacts {
  std::string commit;                ///< of HEAD; empty: no work tree
  std::string branch;                ///< empty: detached
  std::vector<std::string> parents;  ///< of HEAD
};
GitFacts git_facts();

}  // namespace traceweir::cli
