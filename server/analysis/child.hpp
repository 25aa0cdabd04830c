// For: running a program that may be hostile: limited, alone in its session, killed in time, its output bounded.
// Not for: what the program says. Needs Linux 5.11 or later (close_range, pidfd).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "analyzer/core/error.hpp"

namespace traceweir::analysis {

struct ChildLimits {
  std::chrono::milliseconds time_max;  ///< wall; CPU time is limited to the same, in whole seconds
  std::uint64_t memory_bytes_max;      ///< address space; 0: no limit
  std::uint64_t descriptors_max;
  std::size_t out_bytes_max;        ///< more of stdout ends the child
  std::size_t err_bytes_max;        ///< the last ones of stderr are kept
  std::string scratch;              ///< a folder of the child's own, as its TMPDIR; empty: it may write no file at all
  std::uint64_t scratch_bytes_max;  ///< of one file there
};

/// How a child ended. Whatever it is, no process of it is left.
struct ChildEnd {
  enum class How {
    exited,         ///< by itself, with `code`
    signalled,      ///< by a signal that is not ours, `code`
    timed_out,      ///< killed by us: wall time
    too_talkative,  ///< killed by us: out_bytes_max
    stopped,        ///< killed by stop()
  };
  How how = How::exited;
  int code = 0;
  std::string out;
  std::string err;
};

/// All children that run, so that they can be ended together.
/// Thread: run() blocks and may be called from several threads; stop() from any.
class Children {
 public:
  /// Runs command[0] (a path) with these arguments, an environment of TMPDIR at most, `/` as its folder, /dev/null as
  /// stdin and nothing else open but its two pipes. Errors: io_failed (it cannot be started), queue_full (stop() was
  /// called before).
  Result<ChildEnd> run(const std::vector<std::string>& command, const ChildLimits& limits);

  /// Kills all children and lets no further one start.
  void stop();

 private:
  Result<pid_t> start(const std::vector<std::string>& command, const ChildLimits& limits, int out, int err);
  int reap(pid_t pid);
  [[nodiscard]] bool stopped() const;

  mutable std::mutex mutex_;
  bool stopped_ = false;
  std::set<pid_t> running_;  ///< started and not yet reaped, so that no id here can belong to a stranger
};

}  // namespace traceweir::analysis
