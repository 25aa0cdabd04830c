#include "sandbox/sandbox.hpp"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "sandbox/landlock.hpp"

namespace traceweir::sandbox {
namespace {

struct Release {
  void operator()(void* filter) const { ::seccomp_release(filter); }
};
using Filter = std::unique_ptr<void, Release>;  // scmp_filter_ctx is a void*

/// What reading one open file needs: its bytes, memory, time, and an end.
constexpr int allowed[] = {
    SCMP_SYS(read),
    SCMP_SYS(readv),
    SCMP_SYS(pread64),
    SCMP_SYS(preadv),
    SCMP_SYS(write),
    SCMP_SYS(writev),
    SCMP_SYS(pwrite64),
    SCMP_SYS(lseek),
    SCMP_SYS(fstat),
    SCMP_SYS(close),
    SCMP_SYS(fadvise64),
    SCMP_SYS(poll),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(brk),
    SCMP_SYS(madvise),
    SCMP_SYS(futex),
    SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(rseq),
    SCMP_SYS(getrandom),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_getres),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(nanosleep),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(time),
    SCMP_SYS(times),
    SCMP_SYS(getrusage),
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
#ifdef __SANITIZE_ADDRESS__
    // Before it looks at an object's virtual table, UBSan asks a pipe whether that memory can be read.
    SCMP_SYS(pipe),
    SCMP_SYS(pipe2),
#endif
};

/// What a library may try for its comfort and can do without: it gets an error.
constexpr int refused[] = {
    SCMP_SYS(open),       SCMP_SYS(openat),    SCMP_SYS(openat2),    SCMP_SYS(creat),
    SCMP_SYS(stat),       SCMP_SYS(lstat),     SCMP_SYS(newfstatat), SCMP_SYS(statx),
    SCMP_SYS(access),     SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(readlink),
    SCMP_SYS(readlinkat), SCMP_SYS(getcwd),    SCMP_SYS(statfs),     SCMP_SYS(fstatfs),
};

/// What only an attacker has a use for here: it ends the process, and the parent reads SIGSYS.
constexpr int deadly[] = {
    // programs and processes
    SCMP_SYS(execve),
    SCMP_SYS(execveat),
    SCMP_SYS(fork),
    SCMP_SYS(vfork),
    SCMP_SYS(setsid),
    SCMP_SYS(setpgid),
    // the network, and other ways to talk
    SCMP_SYS(socket),
    SCMP_SYS(socketpair),
    SCMP_SYS(connect),
    SCMP_SYS(bind),
    SCMP_SYS(listen),
    SCMP_SYS(accept),
    SCMP_SYS(accept4),
    SCMP_SYS(sendto),
    SCMP_SYS(sendmsg),
    SCMP_SYS(sendmmsg),
    SCMP_SYS(recvmsg),
    SCMP_SYS(mq_open),
    SCMP_SYS(shmget),
    SCMP_SYS(msgget),
    SCMP_SYS(semget),
    // other processes
    SCMP_SYS(kill),
    SCMP_SYS(tkill),
    SCMP_SYS(rt_sigqueueinfo),
    SCMP_SYS(rt_tgsigqueueinfo),
    SCMP_SYS(pidfd_open),
    SCMP_SYS(pidfd_getfd),
    SCMP_SYS(pidfd_send_signal),
    SCMP_SYS(ptrace),
    SCMP_SYS(process_vm_readv),
    SCMP_SYS(process_vm_writev),
    SCMP_SYS(kcmp),
    // the file system
    SCMP_SYS(unlink),
    SCMP_SYS(unlinkat),
    SCMP_SYS(rename),
    SCMP_SYS(renameat),
    SCMP_SYS(renameat2),
    SCMP_SYS(link),
    SCMP_SYS(linkat),
    SCMP_SYS(symlink),
    SCMP_SYS(symlinkat),
    SCMP_SYS(mkdir),
    SCMP_SYS(mkdirat),
    SCMP_SYS(rmdir),
    SCMP_SYS(mknod),
    SCMP_SYS(mknodat),
    SCMP_SYS(chmod),
    SCMP_SYS(fchmod),
    SCMP_SYS(fchmodat),
    SCMP_SYS(chown),
    SCMP_SYS(fchown),
    SCMP_SYS(lchown),
    SCMP_SYS(fchownat),
    SCMP_SYS(truncate),
    SCMP_SYS(mount),
    SCMP_SYS(umount2),
    SCMP_SYS(chroot),
    SCMP_SYS(pivot_root),
    SCMP_SYS(chdir),
    SCMP_SYS(fchdir),
    SCMP_SYS(open_by_handle_at),
    // the kernel itself
    SCMP_SYS(bpf),
    SCMP_SYS(io_uring_setup),
    SCMP_SYS(io_uring_enter),
    SCMP_SYS(io_uring_register),
    SCMP_SYS(perf_event_open),
    SCMP_SYS(userfaultfd),
    SCMP_SYS(keyctl),
    SCMP_SYS(add_key),
    SCMP_SYS(request_key),
    SCMP_SYS(unshare),
    SCMP_SYS(setns),
    SCMP_SYS(init_module),
    SCMP_SYS(finit_module),
    SCMP_SYS(kexec_load),
    SCMP_SYS(setuid),
    SCMP_SYS(setgid),
    SCMP_SYS(setresuid),
    SCMP_SYS(setresgid),
    SCMP_SYS(capset),
    SCMP_SYS(memfd_create),
    SCMP_SYS(modify_ldt),
    SCMP_SYS(personality),
};

/// Adds rules and keeps the first failure.
class Rules {
 public:
  explicit Rules(scmp_filter_ctx filter) : filter_(filter) {}

  template <typename... Conditions>
  void add(std::uint32_t action, int call, Conditions... conditions) {
    if (status_ != 0) return;
    const int status = ::seccomp_rule_add(filter_, action, call, sizeof...(conditions), conditions...);
    if (status != 0 && status != -EDOM) status_ = status;  // EDOM: a call that this architecture does not have
  }
  template <std::size_t count>
  void add_all(std::uint32_t action, const int (&calls)[count]) {
    for (const int call : calls) add(action, call);
  }
  [[nodiscard]] int status() const { return status_; }

 private:
  scmp_filter_ctx filter_;
  int status_ = 0;
};

constexpr std::uint64_t thread_flags = CLONE_VM | CLONE_THREAD | CLONE_SIGHAND;

scmp_arg_cmp argument(unsigned number, scmp_compare compare, scmp_datum_t a, scmp_datum_t b = 0) {
  return {number, compare, a, b};
}

/// Calls that are harmless or not by what they are asked.
void add_conditional(Rules& rules) {
  // No memory that can be run: what is mapped by now is all the code there is.
  rules.add(SCMP_ACT_ALLOW, SCMP_SYS(mmap), argument(2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
  rules.add(SCMP_ACT_ALLOW, SCMP_SYS(mprotect), argument(2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
  // Threads, not processes. clone3 hides its flags in memory, so that it "does not exist": libraries then use clone.
  rules.add(SCMP_ACT_ALLOW, SCMP_SYS(clone), argument(0, SCMP_CMP_MASKED_EQ, thread_flags, thread_flags));
  rules.add(SCMP_ACT_KILL_PROCESS, SCMP_SYS(clone), argument(0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
  // Signals to itself: abort() is how an assertion ends. That it is itself is another filter's matter (own_signals).
  rules.add(SCMP_ACT_ALLOW, SCMP_SYS(tgkill));
  // Reading its own limits, not setting any, nor another's.
  rules.add(SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), argument(0, SCMP_CMP_EQ, 0), argument(2, SCMP_CMP_EQ, 0));
}

using Instructions = std::vector<sock_filter>;

/// What libseccomp made of the rules; empty: it could not. It writes them to a descriptor only, and a pipe holds the
/// most that the kernel takes (4096 instructions of 8 bytes).
Instructions exported(scmp_filter_ctx filter) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  Instructions program(BPF_MAXINSNS);
  const bool written = ::seccomp_export_bpf(filter, ends[1]) == 0;
  const ssize_t bytes = written ? ::read(ends[0], program.data(), program.size() * sizeof(sock_filter)) : 0;
  for (const int end : ends) ::close(end);
  program.resize(bytes <= 0 ? 0 : static_cast<std::size_t>(bytes) / sizeof(sock_filter));
  return program;
}

/// Everything that no rule names "does not exist" (ENOSYS): libraries of tomorrow have a way back from that.
/// Empty: it cannot be made.
Instructions rules_for_all() {
  const Filter filter(::seccomp_init(SCMP_ACT_ERRNO(ENOSYS)));
  if (filter == nullptr) return {};
  Rules rules(filter.get());
  rules.add_all(SCMP_ACT_ALLOW, allowed);
  rules.add_all(SCMP_ACT_ERRNO(EACCES), refused);
  rules.add_all(SCMP_ACT_KILL_PROCESS, deadly);
  add_conditional(rules);
  const bool made = rules.status() == 0 &&
                    // 32-bit calls by the back door
                    ::seccomp_attr_set(filter.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) == 0;
  return made ? exported(filter.get()) : Instructions();
}

constexpr std::uint32_t offset_of_argument(std::size_t number, bool upper_half) {
  const bool second = upper_half == (std::endian::native == std::endian::little);
  return static_cast<std::uint32_t>(offsetof(seccomp_data, args) + number * sizeof(std::uint64_t) + (second ? 4 : 0));
}

/// Signals go to this process alone. It stands beside the other filter, which is made before there is a process: of two
/// that are on, the stricter answer counts, so that it may let everything else pass.
std::array<sock_filter, 8> own_signals(pid_t self) {
  const auto tgkill = static_cast<std::uint32_t>(SCMP_SYS(tgkill));
  return {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, tgkill, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset_of_argument(0, false)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(self), 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset_of_argument(0, true)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  }};
}

/// For all threads.
bool put_on(const sock_filter* first, std::size_t count) {
  const sock_fprog program{static_cast<unsigned short>(count), const_cast<sock_filter*>(first)};
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

}  // namespace

struct Lock::Program {
  Instructions rules;
};

Lock::Lock() : program_(std::make_unique<Program>(Program{rules_for_all()})) {}
Lock::Lock(Lock&&) noexcept = default;
Lock& Lock::operator=(Lock&&) noexcept = default;
Lock::~Lock() = default;

Parts Lock::turn() const {
  Parts parts;
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return parts;  // both parts need it
  parts.landlock_abi = apply_landlock();
  const Instructions& rules = program_->rules;
  const auto signals = own_signals(::getpid());
  // The smaller one first: the other lets nobody put on another.
  parts.seccomp = !rules.empty() && put_on(signals.data(), signals.size()) && put_on(rules.data(), rules.size());
  return parts;
}

Parts lock_down() { return Lock().turn(); }

}  // namespace traceweir::sandbox
