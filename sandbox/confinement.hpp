// For: what a process is put into before it is a child that may be hostile: its own session, limits, its descriptors
// and no others. Not for: what it gives up by itself afterwards (sandbox.hpp), starting it (server/analysis,
// fork_server.hpp).
#pragma once

#include <cstdint>
#include <span>

namespace traceweir::sandbox {

/// What a child may use. Plain numbers, since they cross to another process as they are.
struct Limits {
  std::uint64_t cpu_seconds;       ///< then SIGXCPU, and a second later SIGKILL
  std::uint64_t memory_bytes_max;  ///< address space; 0: no limit
  std::uint64_t descriptors_max;
  std::uint64_t file_bytes_max;  ///< of a file that it writes; 0: it may write none
};

/// Whether this process, just forked, is now alone in its session and cannot gain privileges, dies with `parent`, takes
/// signals as a new program does and runs in `/` with files of its own only. Where memory runs out it goes first.
/// Errors: false, with errno set. Thread: system calls only, so that it may follow the fork of a process of many
/// threads.
bool stand_alone(int parent);

/// The wiring's descriptors become 0, 1, …; -1: that one is closed. All others go at the next exec, and at once where
/// `others` says so. Errors and threads: as above.
enum class Others { go_with_exec, go_now };
bool place(std::span<int> wiring, Others others);

/// Errors and threads: as above.
bool apply(const Limits& limits);

}  // namespace traceweir::sandbox
