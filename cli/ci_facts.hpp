// For: what is to be known of the commit that is measured and of the CI job that measures it: a row per fact, each
// value with where it comes from. Not for: finding them out (ci_environment.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analyzer/core/error.hpp"

namespace traceweir::cli {

/// The spelling of an enumerator is the key of `gate --explain-ci --json`.
enum class Fact {
  event,
  commit,
  head,
  base,
  branch,
  base_branch,
  tag,
  pr,
  fork,
  attempt,
  ci_run,
  job,
  matrix,
  job_url
};

/// What a value may be. A commit that a person names (`HEAD~1`, a tag) is looked up in git.
enum class FactKind { text, commit, number, yes_or_no };

/// `flag` and `variable` (TRACEWEIR_*) win over what the CI says; nullptr: there is none.
struct FactRow {
  Fact fact;
  std::string_view name;
  FactKind kind;
  const char* flag;
  const char* variable;
  const char* help;
};
std::span<const FactRow> fact_table();

/// A value as text (`true` and `false`, decimal digits), and what said it: "GITHUB_SHA", "--commit", "git rev-parse".
struct Sourced {
  std::string value, source;
};
using Facts = std::map<Fact, Sourced>;

/// The value of an environment variable; empty: not set.
using Variables = std::function<std::string(const std::string& name)>;
Variables process_variables();

/// The output of `git ARGUMENTS…`; nothing when git fails or is not there.
using GitCommand = std::function<std::optional<std::string>(const std::vector<std::string>& arguments)>;

/// `text` as a value of that fact: spaces around it gone, words of yes and no in one spelling, a commit's name looked
/// up.
/// Errors: usage, saying what was expected.
Result<std::string> fact_value(const FactRow& row, std::string text, const GitCommand& git);

}  // namespace traceweir::cli
