// For: the moment between fork and exec, in one place: the only code that runs in the copy of a threaded program.
// Not for: waiting (child.hpp).
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "analyzer/core/error.hpp"
#include "sandbox/confinement.hpp"

namespace traceweir::analysis {

/// What a child gets as its descriptors 0, 1, … (sandbox/contract.hpp); -1: that one is closed.
using Wiring = std::vector<int>;

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
  explicit Command(std::vector<std::string> words);
  [[nodiscard]] char* const* arguments() const { return pointers_.data(); }
  [[nodiscard]] const char* program() const { return words_.front().c_str(); }

 private:
  std::vector<std::string> words_;
  std::vector<char*> pointers_;
};

/// Forks; the child applies the limits (nullptr: has ours) and becomes the command, with no environment at all. Returns
/// its id, or -1 with errno set. The child writes an errno to `failure` if anything fails before the command runs; else
/// that pipe just ends.
pid_t spawn(const Command& command, const sandbox::Limits* limits, const Wiring& wiring, int failure);

/// Waits until the command runs. Errors: io_failed, with what the child wrote to the pipe.
Result<void> started(Pipe& failure, const std::string& program);

tl::unexpected<Error> cannot_start(const std::string& program, int number);

}  // namespace traceweir::analysis
