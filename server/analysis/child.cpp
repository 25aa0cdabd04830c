#include "server/analysis/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "sandbox/contract.hpp"
#include "server/analysis/feed.hpp"
#include "server/analysis/spawn.hpp"

namespace traceweir::analysis {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t piece_bytes = std::size_t{64} * 1024;
constexpr std::size_t pipe_bytes_max = std::size_t{1} << 20;
constexpr std::size_t word_bytes_max = 256;
constexpr std::chrono::milliseconds grace{200};

/// The C library's own wrapper cannot be linked from C++ in Debian 12.
int pidfd_of(pid_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U)); }

/// The child and everything it has started.
void kill_group(pid_t pid) {
  ::kill(pid, SIGKILL);
  ::kill(-pid, SIGKILL);
}

/// One end of a pipe that is read without ever waiting.
class Outlet {
 public:
  explicit Outlet(Descriptor end) : end_(std::move(end)) { ::fcntl(end_.get(), F_SETFL, O_NONBLOCK); }

  [[nodiscard]] bool is_closed() const { return end_.get() < 0; }
  void close() { end_.close(); }

  [[nodiscard]] pollfd wish() const { return {end_.get(), POLLIN, 0}; }  // a closed one is -1, which poll passes over

  /// Takes what is there, into `text`; stops above `bytes_max`.
  void drain(std::string& text, std::size_t bytes_max) {
    std::array<char, piece_bytes> piece;
    while (end_.get() >= 0 && text.size() <= bytes_max) {
      const ssize_t count = ::read(end_.get(), piece.data(), piece.size());
      if (count > 0) {
        text.append(piece.data(), static_cast<std::size_t>(count));
      } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
        end_.close();
      } else if (errno == EAGAIN) {
        return;
      }
    }
  }

  /// As drain, but keeps the last `bytes_max` bytes. Takes no more than a pipe can hold, so that a writer without end
  /// cannot keep us here.
  void drain_tail(std::string& text, std::size_t bytes_max) {
    drain(fresh_, pipe_bytes_max);
    text += fresh_;
    fresh_.clear();
    if (text.size() > bytes_max) text.erase(0, text.size() - bytes_max);
  }

 private:
  Descriptor end_;
  std::string fresh_;
};

int wait_ms(Clock::time_point until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

/// Whether the kernel says that a filter of system calls is on. Of a child that has ended and was not yet reaped, too.
bool is_filtered(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line == "Seccomp:\t2") return true;
  return false;
}

/// The child's word, if it is one and no lie.
std::optional<sandbox::Parts> believed(pid_t pid, std::string_view line) {
  const auto parts = sandbox::parts_of(line);
  if (!parts || (parts->seccomp && !is_filtered(pid))) return std::nullopt;
  return parts;
}

bool is_met(const sandbox::Parts& demanded, const std::optional<sandbox::Parts>& given) {
  if (demanded == sandbox::Parts{}) return true;
  return given && given->seccomp >= demanded.seccomp && given->landlock_abi >= demanded.landlock_abi;
}

/// The ends of a child's pipes that are ours.
struct Ends {
  Descriptor out;
  Descriptor err;
  Descriptor word;
  std::optional<Pump> in;  ///< where the input comes from a feed
};

/// Watches one child until it has ended, and fills in everything but its exit status.
class Watch {
 public:
  Watch(pid_t pid, Descriptor pidfd, Ends ends)
      : pid_(pid),
        pidfd_(std::move(pidfd)),
        out_(std::move(ends.out)),
        err_(std::move(ends.err)),
        word_(std::move(ends.word)),
        in_(std::move(ends.in)) {}

  ChildEnd until_end(const ChildLimits& limits) {
    ChildEnd end;
    bool ended = false;
    while (!ended) {
      constexpr pollfd none{-1, 0, 0};
      std::array<pollfd, 6> wishes = {
          pollfd{pidfd_.get(), POLLIN, 0},  out_.wish(), err_.wish(), word_.wish(), in_ ? in_->wish_for_more() : none,
          in_ ? in_->wish_for_room() : none};
      const auto deadline = deadline_of(limits);
      ::poll(wishes.data(), wishes.size(), killed_ || !deadline ? -1 : wait_ms(*deadline));
      ended = wishes[0].revents != 0;
      if (ended) kill_group(pid_);  // whatever it started goes with it, and cannot hold the pipes
      feed_it(end);
      hear_word(end);
      out_.drain(end.out, limits.out_bytes_max);
      err_.drain_tail(end.err, limits.err_bytes_max);
      if (end.out.size() > limits.out_bytes_max) end_it(end, ChildEnd::How::too_talkative);
      const bool unguarded = word_.is_closed() && !is_met(limits.sandbox, end.sandbox);
      if (!ended && unguarded && !ends_within(grace)) end_it(end, ChildEnd::How::unguarded);
      if (!ended && deadline && Clock::now() >= *deadline) end_it(end, ChildEnd::How::timed_out);
    }
    return end;
  }

 private:
  /// The time runs from the last byte of the input; none yet while it arrives.
  std::optional<Clock::time_point> deadline_of(const ChildLimits& limits) {
    if (!begun_ && (!in_ || in_->is_complete())) begun_ = Clock::now();
    if (!begun_) return std::nullopt;
    return *begun_ + limits.time_max;
  }

  void feed_it(ChildEnd& end) {
    if (!in_) return;
    in_->push();
    if (in_->is_abandoned()) end_it(end, ChildEnd::How::abandoned);
  }

  /// It is heard once: the line ends with its pipe.
  void hear_word(ChildEnd& end) {
    if (word_.is_closed()) return;
    word_.drain(line_, word_bytes_max);
    if (!word_.is_closed() && line_.size() <= word_bytes_max) return;
    word_.close();
    end.sandbox = believed(pid_, line_);
  }

  /// One that dies closes its pipes a moment before it is known to be dead.
  [[nodiscard]] bool ends_within(std::chrono::milliseconds time) const {
    pollfd wish{pidfd_.get(), POLLIN, 0};
    return ::poll(&wish, 1, static_cast<int>(time.count())) > 0;
  }

  void end_it(ChildEnd& end, ChildEnd::How how) {
    if (std::exchange(killed_, true)) return;
    end.how = how;
    kill_group(pid_);
  }

  pid_t pid_;
  Descriptor pidfd_;
  Outlet out_;
  Outlet err_;
  Outlet word_;
  std::optional<Pump> in_;
  std::optional<Clock::time_point> begun_;
  std::string line_;
  bool killed_ = false;
};

}  // namespace

namespace {

/// CPU time in whole seconds, rounded up: at its end comes SIGXCPU, by which we know the cause.
sandbox::Limits limits_of(const ChildLimits& limits) {
  return {static_cast<std::uint64_t>((limits.time_max.count() + 999) / 1000), limits.memory_bytes_max,
          limits.descriptors_max, limits.file_bytes_max};
}

}  // namespace

Result<void> Children::fork_early(const std::string& program) {
  TRACEWEIR_TRY(forker, Forker::start(program));
  const std::lock_guard lock(mutex_);
  forker_ = std::move(forker);
  return {};
}

/// The child's id; 0: it has to be started as a program. Under the lock.
pid_t Children::start_early(const std::vector<std::string>& command, const sandbox::Limits& limits,
                            const Wiring& wiring) {
  if (!forker_ || forker_->program() != command.front()) return 0;
  const pid_t pid = forker_->fork(command, limits, wiring);
  if (pid >= 0) return pid;
  // It is gone. A new one is for those that come after this one; a program that never did it is not asked again.
  auto again = forker_->has_forked() ? Forker::start(command.front()) : fail(ErrorCode::io_failed, "");
  forker_.reset();
  if (again) forker_ = *std::move(again);
  return 0;
}

Result<pid_t> Children::start(const std::vector<std::string>& command, const ChildLimits& limits,
                              const Wiring& wiring) {
  const sandbox::Limits confined = limits_of(limits);
  TRACEWEIR_TRY(failure, make_pipe());
  const Command prepared(command);
  pid_t pid = -1;
  {
    // Held over the fork, so that stop() either sees this child or keeps it from starting.
    const std::lock_guard lock(mutex_);
    if (stopped_) return fail(ErrorCode::queue_full, "the service is stopping");
    pid = start_early(command, confined, wiring);
    if (pid > 0) return running_.insert(pid), pid;
    pid = spawn(prepared, &confined, wiring, failure.write.get());
    if (pid < 0) return cannot_start(command.front(), errno);
    running_.insert(pid);
  }
  const auto runs = started(failure, command.front());
  if (runs) return pid;
  reap(pid);
  return tl::unexpected(runs.error());
}

namespace {

/// What the child hears, says, and where.
struct Pipes {
  int in, out, err, word;
};

/// Source: sandbox/contract.hpp.
Wiring wiring_of(std::span<const ChildFiles> files, const Pipes& pipes) {
  Wiring wiring = {pipes.in, pipes.out, pipes.err, pipes.word, files.front().scratch};
  for (const ChildFiles& further : files.subspan(1)) wiring.insert(wiring.end(), {further.input, further.scratch});
  return wiring;
}

}  // namespace

Result<ChildEnd> Children::run(const std::vector<std::string>& command, const ChildLimits& limits,
                               std::span<const ChildFiles> files) {
  TRACEWEIR_TRY(out, make_pipe());
  TRACEWEIR_TRY(err, make_pipe());
  TRACEWEIR_TRY(word, make_pipe());
  Pipe in;
  Feed* const feed = files.front().feed;
  if (feed != nullptr) {
    TRACEWEIR_TRY(made, make_pipe());
    in = std::move(made);
  }
  const int input = feed != nullptr ? in.read.get() : files.front().input;
  const Wiring wiring = wiring_of(files, {input, out.write.get(), err.write.get(), word.write.get()});
  TRACEWEIR_TRY(pid, start(command, limits, wiring));
  out.write.close();
  err.write.close();
  word.write.close();
  in.read.close();
  Descriptor pidfd(pidfd_of(pid));
  if (pidfd.get() < 0) {
    const int number = errno;
    kill_group(pid);
    reap(pid);
    return cannot_start(command.front(), number);
  }
  Ends ends{std::move(out.read), std::move(err.read), std::move(word.read), std::nullopt};
  if (feed != nullptr) ends.in.emplace(*feed, std::move(in.write));
  ChildEnd end = Watch(pid, std::move(pidfd), std::move(ends)).until_end(limits);
  const int status = reap(pid);
  if (end.how != ChildEnd::How::exited) return end;
  if (WIFSIGNALED(status)) end.how = stopped() ? ChildEnd::How::stopped : ChildEnd::How::signalled;
  end.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  // One that ended by itself may have read its input: without its word nothing of it is believed.
  if (end.how == ChildEnd::How::exited && !is_met(limits.sandbox, end.sandbox)) end.how = ChildEnd::How::unguarded;
  return end;
}

int Children::reap(pid_t pid) {
  siginfo_t about{};
  // Waits without the lock and without freeing the id; then frees it under the lock, so that stop() never signals an id
  // that has gone to another process.
  while (::waitid(P_PID, static_cast<id_t>(pid), &about, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  const std::lock_guard lock(mutex_);
  int status = 0;
  ::waitpid(pid, &status, 0);
  running_.erase(pid);
  return status;
}

bool Children::stopped() const {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

void Children::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  for (const pid_t pid : running_) kill_group(pid);
}

}  // namespace traceweir::analysis
