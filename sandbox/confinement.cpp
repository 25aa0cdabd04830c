#include "sandbox/confinement.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <string_view>

namespace traceweir::sandbox {
namespace {

// System calls only: another thread of the parent may have held any lock at the fork, so there is no memory to be had
// and nothing to be freed.

bool limit(__rlimit_resource resource, rlim_t soft, rlim_t hard) {
  rlimit now{};
  if (::getrlimit(resource, &now) != 0) return false;
  const rlim_t top = std::min(hard, now.rlim_max);
  const rlimit wanted{std::min(soft, top), top};
  return ::setrlimit(resource, &wanted) == 0;
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

}  // namespace

bool stand_alone(pid_t parent) {
  ::umask(077);
  be_first_to_go();
  return ::setsid() >= 0 && die_with(parent) && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && reset_signals() &&
         ::chdir("/") == 0;
}

bool place(std::span<int> wiring, Others others) {
  const int behind = static_cast<int>(wiring.size());
  // First out of the way of each other's places, then each to its own.
  for (int& descriptor : wiring) {
    if (descriptor < 0) continue;
    descriptor = ::fcntl(descriptor, F_DUPFD_CLOEXEC, behind);
    if (descriptor < 0) return false;
  }
  if (::close_range(0, ~0U, CLOSE_RANGE_CLOEXEC) != 0) return false;
  for (int i = 0; i < behind; ++i) {
    const int descriptor = wiring[static_cast<std::size_t>(i)];
    if (descriptor >= 0 && ::dup2(descriptor, i) < 0) return false;
    if (descriptor < 0 && others == Others::go_now) ::close(i);
  }
  return others == Others::go_with_exec || ::close_range(static_cast<unsigned>(behind), ~0U, 0) == 0;
}

bool apply(const Limits& limits) {
  const rlim_t files = limits.file_bytes_max;
  return limit(RLIMIT_CORE, 0, 0) && limit(RLIMIT_FSIZE, files, files) &&
         limit(RLIMIT_NOFILE, limits.descriptors_max, limits.descriptors_max) &&
         limit(RLIMIT_CPU, limits.cpu_seconds, limits.cpu_seconds + 1) &&
         (limits.memory_bytes_max == 0 || limit(RLIMIT_AS, limits.memory_bytes_max, limits.memory_bytes_max));
}

}  // namespace traceweir::sandbox
