// For: a comparison of two runs, traceweir.diff/1, both ways. The service and `traceweir compare` write it, the client
// reads it back. Not for: comparing (gate/diff.hpp).
#pragma once

#include <string>
#include <string_view>

#include "analyzer/core/error.hpp"
#include "gate/explanation.hpp"

namespace traceweir::wire {

inline constexpr std::string_view diff_schema = "traceweir.diff/1";

/// One of the two sides. Empty: not a run of a service.
struct DiffSide {
  std::string run, commit, branch, workload;
  std::string name;  ///< what the caller called it: a file; empty: a run
};

struct DiffDocument {
  DiffSide base, head;
  gate::Diff diff;
};

/// Shape: one JSON object on one line, keys in the order of the contract.
std::string to_json(const DiffDocument& document);
/// Errors: bad_body, naming the key.
Result<DiffDocument> diff_from_json(std::string_view text);

}  // namespace traceweir::wire
