// For: what a team wants to be told of its baseline branch, as a value. Each is handed out once, after everything that
// it speaks of is stored.
// Not for: telling it (server/app hands it to who does).
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace traceweir::pipeline {

struct Notice {
  enum class Kind {
    failed,  ///< a run of the baseline branch fails
    drift,   ///< the level of a metric got worse, and nobody accepted it
  } kind = Kind::failed;
  std::string project, workload, branch;
  std::string run, commit;  ///< the run that failed; of a drift, the first of the new level
  std::string metric;       ///< empty: of no single metric
  std::string sentence;     ///< for a person
  bool observe = false;     ///< the project only observes: nothing is blocked
};
std::string_view word(Notice::Kind kind);

/// Thread: called on the worker that judged the run, at most once for each notice. It must not throw, and not wait for
/// anybody outside.
using OnNotice = std::function<void(const Notice& notice)>;

}  // namespace traceweir::pipeline
