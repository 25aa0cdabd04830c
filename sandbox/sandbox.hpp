// For: giving up, for good, everything that reading one open trace does not need: files, programs, processes, sockets,
// other processes' memory. Linux only: a seccomp filter, and Landlock as a second wall behind it.
// Not for: limits on time, memory and sizes (server/analysis sets them from outside).
#pragma once

#include <memory>
#include <string>

namespace traceweir::sandbox {

/// What the kernel had to give.
struct Parts {
  bool seccomp = false;  ///< the filter of system calls is on
  int landlock_abi = 0;  ///< the version by which files, TCP and signals are closed; 0: this kernel has no Landlock
  friend bool operator==(const Parts&, const Parts&) = default;
};

/// For people: `seccomp, landlock abi 7`; `nothing`.
std::string describe(const Parts& parts);

/// The filter of system calls, made ready: making it takes far longer than putting it on, and one that was made before
/// a fork serves every child.
class Lock {
 public:
  Lock();
  Lock(Lock&&) noexcept;
  Lock& operator=(Lock&&) noexcept;
  ~Lock();

  /// lock_down() with it. Cost: some 50 µs.
  [[nodiscard]] Parts turn() const;

 private:
  struct Program;  ///< the kernel's
  std::unique_ptr<Program> program_;
};

/// Locks this process down, its threads too. From here on it can read and write the descriptors that it has, take
/// memory, start threads and end. Opening a path, asking about one, or an unknown system call fails with an error;
/// starting programs or processes, sockets, signals to others and looking into other processes end it (SIGSYS).
/// A part that the kernel, or the container around us, does not have or refuses is left out and not claimed: whoever
/// started this process decides what that means.
/// Cost:   a millisecond or two, nearly all of it for the Lock. Thread: call it once, before others start.
/// Source: seccomp(2), landlock(7).
Parts lock_down();

}  // namespace traceweir::sandbox
