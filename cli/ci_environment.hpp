// For: which CI runs this job, and what it says of the commit: one table with a row per CI.
// Precedence: flag > TRACEWEIR_* > the CI's variable > git. Adding a CI is a row in ci_environment.cpp (and a function
// where variables alone do not tell). Not for: talking to the service.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/core/error.hpp"
#include "cli/ci_facts.hpp"

namespace traceweir::cli {

/// What was found out. Variables, event files and repositories are untrusted: values are clean text, commits are ids.
struct CiEnvironment {
  std::string ci;  ///< `github`, `gitlab`, `buildkite`, `jenkins`; `git`: a work tree alone; `none`: not even that
  std::string ci_source;             ///< what told it
  Facts facts;                       ///< what is not there is not known
  std::vector<std::string> parents;  ///< of the commit, first parent first
  std::vector<std::string> notes;    ///< sentences for a person: what is missing, and what to change
  std::vector<std::string> remarks;  ///< more of them, for who asks: why something is as it is
  std::string key;                   ///< what the idempotency keys of this job begin with; empty: no CI, so none

  [[nodiscard]] std::string text(Fact fact) const;  ///< empty: not known
  [[nodiscard]] std::optional<std::int64_t> number(Fact fact) const;
  [[nodiscard]] bool is(Fact fact) const;  ///< a `fork` that is `true`
  [[nodiscard]] std::string source(Fact fact) const;

  /// Whether the commit is only proposed for the base branch: a pull request, a queue, another branch in CI.
  [[nodiscard]] bool is_change() const;
};

/// Whether this job sends all ranks of its run, or other jobs send some: those must agree on what they say of it.
enum class Sender { whole_run, one_of_several };

/// Where to look: what the command line says, and the world around it.
struct CiInputs {
  std::map<Fact, std::string> given;  ///< by flags; empty texts: not given
  Sender sender = Sender::whole_run;
  std::string ci;  ///< `--ci`: a row's name, `none`; empty: told by the variables
  Variables variables;
  GitCommand git;
};

/// Errors: usage (a flag or a TRACEWEIR_* variable with a value that it cannot have, naming it; an unknown CI).
Result<CiEnvironment> ci_environment(const CiInputs& inputs);

/// Names of the CIs that are known, in the order in which they are looked for.
std::vector<std::string> ci_names();

}  // namespace traceweir::cli
