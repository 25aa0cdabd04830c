// For: what a git work tree says of the commit that is measured. Not for: CI variables (ci_environment).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/wire/commit_list.hpp"

namespace traceweir::cli {

/// The output of `git ARGUMENTS…`, byte by byte; nothing when git fails or is not there.
std::optional<std::string> git_output(const std::vector<std::string>& arguments);

/// The same without newlines at its end.
std::optional<std::string> git(const std::vector<std::string>& arguments);

/// The ids of the parents in the text of a commit (`git cat-file commit`), first parent first.
std::vector<std::string> parents_in(const std::string& commit);

/// A commit with its newest first-parent ancestors, newest first; where a shallow clone ends, the last one still has
/// its parents' ids. Empty: the work tree does not have the commit.
std::vector<wire::CommitRow> git_ancestry(const std::string& commit, std::size_t commits_max);

}  // namespace traceweir::cli
