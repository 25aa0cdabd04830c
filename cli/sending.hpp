// For: sending the files of a run to the service, one after the other, under keys that make it safe to send them again.
// Not for: what comes before (the commit graph, the policy) and after (the verdict).
#pragma once

#include <string>
#include <vector>

#include "analyzer/core/error.hpp"
#include "cli/ci_environment.hpp"
#include "cli/client.hpp"
#include "cli/gate_options.hpp"
#include "cli/nsys_export.hpp"

namespace traceweir::cli {

/// One file of the run, hashed.
struct Part {
  std::string name;   ///< as it was given
  ReadableFile file;  ///< what is sent
  std::string sha256;
};

/// The files that are sent, in their order. Errors: those of ReadableFile, io_failed, with the file's name in front
/// where there are several.
Result<std::vector<Part>> parts_of(const GateOptions& options);

/// What the command line leaves open of the ranks: several files are as many ranks of one run, and the jobs of one CI
/// run that send a rank each send the same run.
/// Errors: usage (ranks that other jobs send, and nothing that says which run they are of).
Result<void> fill_in_ranks(GateOptions& options, const CiEnvironment& ci, const std::vector<Part>& parts);

/// What all uploads of a run say of it.
struct Submission {
  const GateOptions& options;
  const CiEnvironment& ci;
  const Client& client;
  std::string policy;  ///< SHA-256 of one that was sent; empty: none
};

/// The answer of the last file is the run's.
/// Errors: usage (what the service cannot be asked), those of the client and of the service, with the file's name in
/// front where there are several.
Result<std::string> send_parts(const Submission& submission, const std::vector<Part>& parts);

/// Errors: usage: a commit is not known, or --env is not KEY=VALUE.
Result<void> check_submission(const Submission& submission);

}  // namespace traceweir::cli
