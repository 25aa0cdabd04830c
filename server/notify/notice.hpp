// For: what is told to others, as a value and as the JSON that they get (traceweir.notice/1; docs/operations.md).
// Not for: when something is told (server/pipeline), or how it is sent (webhook.hpp).
#pragma once

#include <string>

namespace traceweir::notify {

/// Texts are already cleaned and limited.
struct Notice {
  std::string kind;  ///< `failed_run`, `drift`
  std::string project, workload, branch, run, commit;
  std::string metric;    ///< empty: of no single one
  std::string summary;   ///< one sentence
  std::string link;      ///< to the run
  std::string at;        ///< RFC 3339
  bool observe = false;  ///< the project only observes: nothing is blocked
};

/// Shape: one JSON object on one line.
std::string to_json(const Notice& notice);

}  // namespace traceweir::notify
