#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "sandbox/sandbox.hpp"

using namespace traceweir;

namespace {

constexpr int exit_succeeded = 0;
constexpr int exit_denied = 1;
constexpr int exit_no_sandbox = 2;

/// What an attempt came to in a process of its own.
enum class Outcome { succeeded, denied, killed_by_filter, no_sandbox, other };

Outcome outcome_of(int status) {
  if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGSYS ? Outcome::killed_by_filter : Outcome::other;
  if (WEXITSTATUS(status) == exit_succeeded) return Outcome::succeeded;
  if (WEXITSTATUS(status) == exit_denied) return Outcome::denied;
  return WEXITSTATUS(status) == exit_no_sandbox ? Outcome::no_sandbox : Outcome::other;
}

/// Runs `attempt` in a forked process. `before` prepares it and says whether the attempt may begin.
template <typename Before, typename Attempt>
Outcome try_it(Before before, Attempt attempt) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    if (!before()) ::_exit(exit_no_sandbox);
    ::_exit(attempt() ? exit_succeeded : exit_denied);
  }
  REQUIRE(pid > 0);
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  return outcome_of(status);
}

/// The whole sandbox, or the attempt counts as made without one.
bool whole_sandbox() {
  const sandbox::Parts parts = sandbox::lock_down();
  return parts.seccomp && parts.landlock_abi > 0;
}

bool unguarded() { return true; }

bool opens(const char* path, int flags) { return ::open(path, flags, 0600) >= 0; }

bool connects(int family, const sockaddr* address, socklen_t bytes) {
  const int made = ::socket(family, SOCK_STREAM, 0);
  return made >= 0 && (::connect(made, address, bytes) == 0 || errno == ECONNREFUSED);
}

bool connects_tcp() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(9);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return connects(AF_INET, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

bool forks() {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  return pid > 0;
}

bool runs_a_program() {
  std::array<char, 10> name{"/bin/true"};
  const std::array<char*, 2> words{name.data(), nullptr};
  ::execv(name.data(), words.data());
  return false;
}

bool reads_the_parent() {
  long word = 0;
  iovec to{&word, sizeof word};
  iovec from{&word, sizeof word};  // the same place in the parent, from which we were forked
  return ::process_vm_readv(::getppid(), &to, 1, &from, 1, 0) > 0;
}

bool has_runnable_memory() {
  void* made = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return made != MAP_FAILED;
}

bool makes_memory_runnable() {
  void* made = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return made != MAP_FAILED && ::mprotect(made, 4096, PROT_READ | PROT_EXEC) == 0;
}

struct stat about;

struct Attempt {
  const char* name;
  bool (*make)();
};
/// Each of these succeeds in a process that is not locked in, where `also_free` says so below.
constexpr Attempt attempts[] = {
    {"open a file outside", [] { return opens("/etc/passwd", O_RDONLY); }},
    {"open itself again", [] { return opens("/proc/self/exe", O_RDONLY); }},
    {"look into a folder", [] { return opens("/", O_RDONLY | O_DIRECTORY); }},
    {"write a new file", [] { return opens("/tmp/traceweir-escaped", O_WRONLY | O_CREAT); }},
    {"ask about a file", [] { return ::stat("/etc/passwd", &about) == 0; }},
    {"read a link",
     [] {
       char text[256];
       return ::readlink("/proc/self/exe", text, sizeof text) > 0;
     }},
    {"make a folder", [] { return ::mkdir("/tmp/traceweir-escaped-folder", 0700) == 0 || errno == EEXIST; }},
    {"remove a file", [] { return ::unlink("/tmp/traceweir-not-there") == 0 || errno == ENOENT; }},
    {"make a socket", [] { return ::socket(AF_INET, SOCK_STREAM, 0) >= 0; }},
    {"make a UNIX socket", [] { return ::socket(AF_UNIX, SOCK_STREAM, 0) >= 0; }},
    {"make a pair of sockets",
     [] {
       int two[2];
       return ::socketpair(AF_UNIX, SOCK_STREAM, 0, two) == 0;
     }},
    {"connect", [] { return connects_tcp(); }},
    {"fork", [] { return forks(); }},
    {"run a program", [] { return runs_a_program(); }},
    {"trace the parent", [] { return ::ptrace(PTRACE_ATTACH, ::getppid(), nullptr, nullptr) == 0; }},
    {"be traced", [] { return ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0; }},
    {"read the parent's memory", [] { return reads_the_parent(); }},
    {"signal the parent", [] { return ::kill(::getppid(), 0) == 0; }},
    {"signal its thread", [] { return ::syscall(SYS_tgkill, ::getppid(), ::getppid(), 0) == 0; }},
    {"hold the parent", [] { return ::syscall(SYS_pidfd_open, ::getppid(), 0) >= 0; }},
    {"have memory that runs", [] { return has_runnable_memory(); }},
    {"make memory run", [] { return makes_memory_runnable(); }},
    {"make a file in memory", [] { return ::syscall(SYS_memfd_create, "x", 0) >= 0; }},
    {"raise its own limits",
     [] {
       const rlimit more{64, 64};
       return ::setrlimit(RLIMIT_NOFILE, &more) == 0;
     }},
    {"make a namespace", [] { return ::unshare(CLONE_NEWUSER) == 0; }},
    {"set up io_uring",
     [] {
       char parameters[256] = {};
       return ::syscall(SYS_io_uring_setup, 1, parameters) >= 0;
     }},
    {"load into the kernel", [] { return ::syscall(SYS_bpf, 0, nullptr, 0) == 0; }},
    {"filter anew", [] { return ::syscall(SYS_seccomp, 2, 0, nullptr) == 0; }},
};

}  // namespace

// Why: a flaw in a reader hands an attacker this process; the sandbox is what then stands between the upload and the
// host. Skipping it fails here too.
TEST_CASE("sandbox: every way out is closed") {
  for (const Attempt& attempt : attempts) {
    CAPTURE(attempt.name);
    const Outcome outcome = try_it(&whole_sandbox, attempt.make);
    const bool is_closed = outcome == Outcome::denied || outcome == Outcome::killed_by_filter;
    CHECK_MESSAGE(is_closed, "outcome ", static_cast<int>(outcome));
  }
  CHECK(::access("/tmp/traceweir-escaped", F_OK) != 0);
}

// Why: an attempt that fails anyway would prove nothing of the sandbox.
TEST_CASE("sandbox: the attempts are real ones") {
  for (const char* name :
       {"open a file outside", "look into a folder", "ask about a file", "read a link", "make a socket",
        "make a UNIX socket", "make a pair of sockets", "connect", "fork", "run a program", "be traced",
        "signal the parent", "signal its thread", "hold the parent", "have memory that runs", "make memory run",
        "make a file in memory", "raise its own limits", "remove a file"}) {
    CAPTURE(name);
    const auto* attempt = std::find_if(std::begin(attempts), std::end(attempts),
                                       [&](const Attempt& row) { return std::string_view(row.name) == name; });
    REQUIRE(attempt != std::end(attempts));
    CHECK(try_it(&unguarded, attempt->make) == Outcome::succeeded);
  }
}

// Why: what reading a trace needs must go on, or every upload would be refused.
TEST_CASE("sandbox: reading, memory, threads and an end stay") {
  const auto works = [] {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0 || !whole_sandbox()) return false;
    char byte = 'x';
    if (::write(ends[1], &byte, 1) != 1 || ::read(ends[0], &byte, 1) != 1) return false;
    char* const text = static_cast<char*>(std::malloc(std::size_t{64} << 20));
    if (text == nullptr) return false;
    text[0] = text[(std::size_t{64} << 20) - 1] = 'x';
    std::free(text);
    int counted = 0;
    std::thread([&] { counted = 1; }).join();
    return counted == 1;
  };
  CHECK(try_it(&unguarded, works) == Outcome::succeeded);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::signal(SIGABRT, SIG_DFL);
    if (whole_sandbox()) std::abort();  // how an assertion ends
    ::_exit(exit_no_sandbox);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGABRT);
}

// Why: kernels and containers without one of the parts exist; the other must hold, and nothing may be claimed.
TEST_CASE("sandbox: a kernel without Landlock gives the filter alone") {
  const auto without_landlock = [] {
    scmp_filter_ctx filter = ::seccomp_init(SCMP_ACT_ALLOW);
    const bool made = ::seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(landlock_create_ruleset), 0) == 0 &&
                      ::seccomp_load(filter) == 0;
    ::seccomp_release(filter);
    return made && sandbox::lock_down() == sandbox::Parts{true, 0};
  };
  CHECK(try_it(without_landlock, [] { return opens("/etc/passwd", O_RDONLY); }) == Outcome::denied);
  CHECK(try_it(without_landlock, [] { return forks(); }) == Outcome::killed_by_filter);
}

TEST_CASE("sandbox: a part that is refused is not claimed") {
  const auto refused = [](int call) {
    scmp_filter_ctx filter = ::seccomp_init(SCMP_ACT_ALLOW);
    const bool made = ::seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 0) == 0 && ::seccomp_load(filter) == 0;
    ::seccomp_release(filter);
    return made;
  };
  const auto no_rules = [&] {
    return refused(SCMP_SYS(landlock_restrict_self)) && sandbox::lock_down() == sandbox::Parts{true, 0};
  };
  CHECK(try_it(&unguarded, no_rules) == Outcome::succeeded);
  const auto no_filter = [&] {
    const sandbox::Parts parts = refused(SCMP_SYS(seccomp)) ? sandbox::lock_down() : sandbox::Parts{};
    return !parts.seccomp && parts.landlock_abi > 0 && !opens("/etc/passwd", O_RDONLY);
  };
  CHECK(try_it(&unguarded, no_filter) == Outcome::succeeded);
}
