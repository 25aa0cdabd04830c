#include "server/analysis/spawn.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "sandbox/confinement.hpp"

namespace traceweir::analysis {
namespace {

/// Runs in the child, between fork and exec: system calls only. Another thread of the parent may have held any lock at
/// the fork, so there is no memory to be had and nothing to be freed.
[[noreturn]] void become(const Command& command, const sandbox::Limits* limits, Wiring& wiring, int failure,
                         pid_t parent) {
  const int tell = ::fcntl(failure, F_DUPFD_CLOEXEC, static_cast<int>(wiring.size()));
  if (sandbox::stand_alone(parent) && sandbox::place(wiring, sandbox::Others::go_with_exec) &&
      (limits == nullptr || sandbox::apply(*limits))) {
    constexpr std::array<char*, 1> no_environment = {nullptr};
    ::execve(command.program(), command.arguments(), no_environment.data());
  }
  const int number = errno;
  const ssize_t told = ::write(tell, &number, sizeof number);
  ::_exit(told < 0 ? 126 : 127);
}

}  // namespace

Descriptor::Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

Descriptor::~Descriptor() { close(); }

void Descriptor::close() {
  if (number_ >= 0) ::close(std::exchange(number_, -1));
}

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return fail(ErrorCode::io_failed, "making a pipe: " + std::generic_category().message(errno));
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

Command::Command(std::vector<std::string> words) : words_(std::move(words)) {
  for (std::string& word : words_) pointers_.push_back(word.data());
  pointers_.push_back(nullptr);
}

pid_t spawn(const Command& command, const sandbox::Limits* limits, const Wiring& wiring, int failure) {
  const pid_t parent = ::getpid();
  Wiring own = wiring;  // made before the fork: there is no memory to be had behind it
  const pid_t pid = ::fork();
  if (pid == 0) become(command, limits, own, failure, parent);
  return pid;
}

Result<void> started(Pipe& failure, const std::string& program) {
  failure.write.close();
  int number = 0;
  ssize_t count = -1;
  do {
    count = ::read(failure.read.get(), &number, sizeof number);
  } while (count < 0 && errno == EINTR);
  return count == 0 ? Result<void>() : cannot_start(program, number);
}

tl::unexpected<Error> cannot_start(const std::string& program, int number) {
  return fail(ErrorCode::io_failed,
              "the program " + program + " cannot be started: " + std::generic_category().message(number));
}

}  // namespace traceweir::analysis
