#include "server/analysis/spawn.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <system_error>
#include <utility>

namespace traceweir::analysis {
namespace {

// Everything in this namespace runs in the child, between fork and exec: system calls only. Another thread of the
// parent may have held any lock at the fork, so there is no memory to be had and nothing to be freed.

bool limit(__rlimit_resource resource, rlim_t soft, rlim_t hard) {
  rlimit now{};
  if (::getrlimit(resource, &now) != 0) return false;
  const rlim_t top = std::min(hard, now.rlim_max);
  const rlimit wanted{std::min(soft, top), top};
  return ::setrlimit(resource, &wanted) == 0;
}

bool apply(const ChildLimits& limits) {
  // Whole seconds, rounded up. At the soft limit comes SIGXCPU, by which we know the cause; a second later SIGKILL.
  const auto seconds = static_cast<rlim_t>((limits.time_max.count() + 999) / 1000);
  const rlim_t files = limits.file_bytes_max;
  return limit(RLIMIT_CORE, 0, 0) && limit(RLIMIT_FSIZE, files, files) &&
         limit(RLIMIT_NOFILE, limits.descriptors_max, limits.descriptors_max) &&
         limit(RLIMIT_CPU, seconds, seconds + 1) &&
         (limits.memory_bytes_max == 0 || limit(RLIMIT_AS, limits.memory_bytes_max, limits.memory_bytes_max));
}

/// Signals as a new program expects them: the service ignores some, and its threads block some.
bool reset_signals() {
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) ::sigaction(number, &by_default, nullptr);  // SIGKILL refuses: fine
  sigset_t none;
  ::sigemptyset(&none);
  return ::sigprocmask(SIG_SETMASK, &none, nullptr) == 0;
}

/// First out of the way of each other's places, then each to its own. What they came from goes with the exec.
bool place(Wiring& aside) {
  for (int& descriptor : aside) {
    if (descriptor < 0) continue;
    descriptor = ::fcntl(descriptor, F_DUPFD_CLOEXEC, static_cast<int>(aside.size()));
    if (descriptor < 0) return false;
  }
  if (::close_range(0, ~0U, CLOSE_RANGE_CLOEXEC) != 0) return false;
  for (std::size_t i = 0; i < aside.size(); ++i)
    if (aside[i] >= 0 && ::dup2(aside[i], static_cast<int>(i)) < 0) return false;
  return true;
}

/// A child that outlives the service would work for nobody.
bool die_with(pid_t parent) { return ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && ::getppid() == parent; }

/// Where memory runs out, the kernel is to end this child and not the service, whose control group both are in. That it
/// cannot be said (no /proc) must keep no upload from being read.
void be_first_to_go() {
  constexpr std::string_view most = "1000";  // proc(5); more than one had needs no right
  const int score = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (score < 0) return;
  const ssize_t told = ::write(score, most.data(), most.size());
  static_cast<void>(told);
  ::close(score);
}

[[noreturn]] void become(const Command& command, const ChildLimits& limits, Wiring& wiring, int failure, pid_t parent) {
  const int tell = ::fcntl(failure, F_DUPFD_CLOEXEC, static_cast<int>(wiring.size()));
  if (::setsid() >= 0 && die_with(parent) && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && reset_signals() &&
      place(wiring) && ::chdir("/") == 0 && apply(limits)) {
    be_first_to_go();
    ::umask(077);
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

pid_t spawn(const Command& command, const ChildLimits& limits, const Wiring& wiring, int failure) {
  const pid_t parent = ::getpid();
  Wiring own = wiring;  // made before the fork: there is no memory to be had behind it
  const pid_t pid = ::fork();
  if (pid == 0) become(command, limits, own, failure, parent);
  return pid;
}

}  // namespace traceweir::analysis
