// For: what a gate leaves behind for the CI: summary files, reports, annotations, the step's outputs.
// Not for: the terminal (print_run.hpp), posting comments (ci-templates).
#pragma once

#include <string>

#include "analyzer/core/error.hpp"
#include "cli/ci_facts.hpp"
#include "server/wire/run_document.hpp"

namespace traceweir::cli {

/// Files that were asked for; empty: none.
struct OutputFiles {
  std::string markdown, junit, dotenv;
};

/// What is written about a run.
struct Outcome {
  const wire::RunAnswer& run;  ///< without a verdict it carries the error
  int exit_code;
  std::string address;  ///< of the service, for links; empty: unknown
};

/// Whether the files that were asked for can be written: better said before an hour of uploading than after.
/// Errors: usage, naming the option.
Result<void> check_outputs(const OutputFiles& files);

/// Writes the files that were asked for, and what the CI reads by itself: $GITHUB_STEP_SUMMARY, $GITHUB_OUTPUT.
/// What cannot be written is said on stderr: the verdict stands all the same.
void write_outputs(const Outcome& outcome, const OutputFiles& files, const Variables& variables);

/// `name=value` lines for $GITHUB_OUTPUT: outcome, exit-code, run-id, run-url, summary. One line each, whatever is in
/// them.
std::string github_outputs(const Outcome& outcome);
/// The same as TRACEWEIR_NAME=value, for GitLab's dotenv reports.
std::string dotenv_outputs(const Outcome& outcome);

}  // namespace traceweir::cli
