// For: sending a run to the service, file after file or as one report, under keys that make it safe to send it again.
// Not for: what comes before (the commit graph, the policy) and after (the verdict).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/core/error.hpp"
#include "cli/body_source.hpp"
#include "cli/ci_environment.hpp"
#include "cli/client.hpp"
#include "cli/gate_options.hpp"
#include "cli/nsys_export.hpp"

namespace traceweir::cli {

/// One body of the run, hashed.
struct Part {
  std::string name;                  ///< of the file as it was given
  std::optional<ReadableFile> file;  ///< what is sent; nothing: `text` is
  std::string text;                  ///< a report that was made here
  std::string sha256;                ///< of the file or text, before it is packed
  Packing packing = Packing::as_is;
};

/// What is sent of `files`: themselves, or with --edge the report that is made of them here.
/// Errors: those of ReadableFile and analyze_files, io_failed, with the file's name in front where there are several.
Result<std::vector<Part>> parts_of(const std::vector<std::string>& files, const GateOptions& options);

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

/// Sends all parts, and waits for the verdict as long as the options say. The answer is the run's.
/// Errors: usage (what the service cannot be asked), those of the client and of the service, with the file's name in
/// front where there are several.
Result<std::string> send_parts(const Submission& submission, const std::vector<Part>& parts);

/// Errors: usage: a commit is not known, or --env is not KEY=VALUE.
Result<void> check_submission(const Submission& submission);

}  // namespace traceweir::cli
