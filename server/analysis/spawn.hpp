// For: the moment between fork and exec, in one place: the only code that runs in the copy of a threaded program.
// Not for: waiting (child.hpp).
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "server/analysis/child.hpp"

namespace traceweir::analysis {

/// Owns a descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  [[nodiscard]] int get() const { return number_; }
  void close();

 private:
  int number_ = -1;
};

struct Pipe {
  Descriptor read;
  Descriptor write;
};

/// A pipe whose ends do not survive exec.
/// Errors: io_failed.
Result<Pipe> make_pipe();

/// A program that was prepared for exec before the fork, since nothing may be allocated after it.
class Command {
 public:
  /// `scratch` becomes TMPDIR, the one variable of the environment; empty: there is none.
  Command(std::vector<std::string> words, const std::string& scratch);
  [[nodiscard]] char* const* arguments() const { return pointers_.data(); }
  [[nodiscard]] char* const* environment() const { return environment_.data(); }
  [[nodiscard]] const char* program() const { return words_.front().c_str(); }

 private:
  std::vector<std::string> words_;
  std::vector<char*> pointers_;
  std::string tmpdir_;
  std::vector<char*> environment_;
};

/// What the child gets as its first three descriptors, and where it tells why it could not start.
struct Plumbing {
  int in;
  int out;
  int err;
  int failure;
};

/// Forks; the child applies the limits and becomes the command. Returns its id, or -1 with errno set.
/// The child writes an errno to plumbing.failure if anything fails before the command runs; else that pipe just ends.
pid_t spawn(const Command& command, const ChildLimits& limits, const Plumbing& plumbing);

}  // namespace traceweir::analysis
