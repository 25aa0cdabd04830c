// For: running a program that may be hostile: limited, alone in its session, killed in time, its output bounded.
// Not for: what the program says. Needs Linux 5.11 or later (close_range, pidfd).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "analyzer/core/error.hpp"
#include "sandbox/sandbox.hpp"
#include "server/analysis/forker.hpp"

namespace traceweir::analysis {

class Feed;

struct ChildLimits {
  std::chrono::milliseconds time_max;  ///< wall; CPU time is limited to the same, in whole seconds
  std::uint64_t memory_bytes_max;      ///< address space; 0: no limit
  std::uint64_t descriptors_max;
  std::size_t out_bytes_max;     ///< more of stdout ends the child
  std::size_t err_bytes_max;     ///< the last ones of stderr are kept
  std::uint64_t file_bytes_max;  ///< of a file that it writes; 0: it may write none
  sandbox::Parts sandbox{};      ///< what it must have applied before it reads; nothing: its word is not asked for
};

/// What the child gets of one trace beside its pipes. The caller owns them.
struct ChildFiles {
  int input;             ///< of the first one its stdin; not looked at where there is a feed
  int scratch = -1;      ///< where it may unpack (sandbox/contract.hpp); -1: nowhere
  Feed* feed = nullptr;  ///< of a trace alone: brings it through a pipe while it arrives; its time begins with its end
};

/// How a child ended. Whatever it is, no process of it is left.
struct ChildEnd {
  enum class How {
    exited,         ///< by itself, with `code`
    signalled,      ///< by a signal that is not ours, `code`
    timed_out,      ///< killed by us: wall time
    too_talkative,  ///< killed by us: out_bytes_max
    stopped,        ///< killed by stop()
    abandoned,      ///< killed by us: its feed was abandoned
    unguarded,      ///< killed by us, or not believed: without the sandbox that was asked for
  };
  How how = How::exited;
  int code = 0;
  std::string out;
  std::string err;
  std::optional<sandbox::Parts> sandbox;  ///< its word, where the kernel confirms it; nothing: it gave none
};

/// All children that run, so that they can be ended together.
/// Thread: run() blocks and may be called from several threads; stop() from any.
class Children {
 public:
  /// Runs command[0] (a path) with these arguments, no environment, `/` as its folder and nothing open but its files,
  /// two pipes for what it says and one for its word about the sandbox (sandbox/contract.hpp).
  /// Errors: io_failed (it cannot be started), queue_full (stop() was called before).
  Result<ChildEnd> run(const std::vector<std::string>& command, const ChildLimits& limits,
                       std::span<const ChildFiles> files);

  /// From now on children are forked from a process that has started `program` already, as long as there is one; it is
  /// not asked for anything else. Errors: io_failed (it cannot be started).
  Result<void> fork_early(const std::string& program);

  /// Kills all children and lets no further one start.
  void stop();

 private:
  Result<pid_t> start(const std::vector<std::string>& command, const ChildLimits& limits, const Wiring& wiring);
  pid_t start_early(const std::vector<std::string>& command, const sandbox::Limits& limits, const Wiring& wiring);
  int reap(pid_t pid);
  [[nodiscard]] bool stopped() const;

  mutable std::mutex mutex_;
  bool stopped_ = false;
  std::optional<Forker> forker_;
  std::set<pid_t> running_;  ///< started and not yet reaped, so that no id here can belong to a stranger
};

}  // namespace traceweir::analysis
