// For: what the judge was given for a verdict, kept beside it so that it can be judged again: both ways, to the bit.
// The service's own form: no answer of the API shows it. Not for: judging (gate), what a verdict says
// (run_document.hpp).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"
#include "gate/judge.hpp"

namespace traceweir::wire {

/// Everything that the pure judge needs beside the policy, which is kept by its hash.
struct JudgeInputs {
  std::string build;     ///< of the service that judged
  std::string analyzer;  ///< version that measured the run
  std::int64_t classifier = 0;
  std::vector<gate::JudgedRun> runs;  ///< of the commit; the last one is answered
  gate::Baseline baseline;
  std::vector<std::string> notes;  ///< that the verdict says beside the judge's own
};

/// Leaves out what no rule of the policy looks at: other metrics, findings that are no rule and no loss. The verdict
/// of what is left is the same.
JudgeInputs needed_by(const gate::Policy& policy, JudgeInputs inputs);

/// Shape: one JSON object on one line; numbers come back to the bit.
std::string to_json(const JudgeInputs& inputs);
/// Errors: bad_body, naming the key.
Result<JudgeInputs> inputs_from_json(std::string_view text);

/// A verdict as it is stored: its document, and behind a line break what the judge was given.
std::string stored_verdict(std::string_view document, std::string_view inputs);
/// The document that the API answers.
std::string_view document_in(std::string_view stored);
/// What the judge was given; empty where the verdict was stored without.
std::string_view inputs_in(std::string_view stored);

}  // namespace traceweir::wire
