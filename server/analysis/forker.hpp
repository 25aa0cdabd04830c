// For: the fork server of the analysing program (sandbox/fork_server.hpp): it is started once, and each child costs a
// fork of a small process instead of the start of a program. Not for: watching children (child.hpp).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/core/error.hpp"
#include "server/analysis/spawn.hpp"

namespace traceweir::analysis {

/// Thread: one at a time. The thread that starts one outlives it: the kernel ends it with its thread.
class Forker {
 public:
  /// Starts `program analyze --fork-server -`. Errors: io_failed.
  static Result<Forker> start(const std::string& program);
  Forker(Forker&&) noexcept = default;
  Forker& operator=(Forker&& other) noexcept;
  ~Forker();

  [[nodiscard]] const std::string& program() const { return program_; }
  [[nodiscard]] bool has_forked() const { return forked_ > 0; }

  /// A child of this process that does `command` (whose first two words are the program and `analyze`). 0: this one has
  /// to be started as a program. -1: the fork server is gone.
  pid_t fork(const std::vector<std::string>& command, const sandbox::Limits& limits, const Wiring& wiring);

 private:
  Forker(std::string program, pid_t pid, Descriptor socket);
  void end();

  std::string program_;
  pid_t pid_ = -1;
  Descriptor socket_;
  std::int64_t forked_ = 0;  ///< children
};

}  // namespace traceweir::analysis
