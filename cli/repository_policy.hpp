// For: the policy that a repository brings: .traceweir.toml, or the file that --policy names.
// Not for: what it says (gate/policy.hpp).
#pragma once

#include <optional>
#include <string>

#include "analyzer/core/error.hpp"
#include "cli/ci_environment.hpp"
#include "gate/policy.hpp"

namespace traceweir::cli {

inline constexpr const char* policy_file_name = ".traceweir.toml";

/// The policy of `file`; with an empty name that of .traceweir.toml here or at the top of the work tree. For a change
/// (a pull request, another branch in CI) it is the one that the merge base has: a change must not loosen its own gate.
/// What that means for a file that is not there, or cannot be seen in a shallow clone, is said on stderr. Nothing:
/// there is none. Errors: bad_policy, io_failed, with the file's name in front.
Result<std::optional<gate::Policy>> repository_policy(const std::string& file, const CiEnvironment& ci);

/// Whose measurements these are; empty: not said.
struct PolicyNames {
  std::string project, workload;
};

/// What the file in the work tree names, for the change that adds it: names loosen nothing where there was no policy.
/// A file that is not there, or is no policy, names nothing.
PolicyNames names_here(const std::string& file);

}  // namespace traceweir::cli
