#include "server/analysis/forker.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "sandbox/fork_server.hpp"

namespace traceweir::analysis {
namespace {

/// Children of one fork server have one layout of memory. After so many it is laid out anew, so that what somebody
/// learned of it by crashing some is soon worth nothing.
constexpr std::int64_t forks_max = 1'000;
/// A fork takes well below a millisecond; a server that does not answer is taken for dead.
constexpr timeval answer_time_max{5, 0};

/// An end of a pair that does not survive exec, and the other one.
Result<Pipe> make_pair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return fail(ErrorCode::io_failed, "making a pair of sockets");
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

}  // namespace

Forker::Forker(std::string program, pid_t pid, Descriptor socket)
    : program_(std::move(program)), pid_(pid), socket_(std::move(socket)) {}

Forker& Forker::operator=(Forker&& other) noexcept {
  end();
  program_ = std::move(other.program_);
  pid_ = std::exchange(other.pid_, -1);
  socket_ = std::move(other.socket_);
  forked_ = other.forked_;
  return *this;
}

Forker::~Forker() { end(); }

void Forker::end() {
  if (socket_.get() < 0) return;
  socket_.close();
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
}

Result<Forker> Forker::start(const std::string& program) {
  TRACEWEIR_TRY(failure, make_pipe());
  TRACEWEIR_TRY(pair, make_pair());
  const Descriptor nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const int none = nothing.get();
  const Wiring wiring = {none, none, none, pair.write.get()};
  const pid_t pid = spawn(Command({program, "analyze", "--fork-server", "-"}), nullptr, wiring, failure.write.get());
  if (pid < 0) return cannot_start(program, errno);
  ::setsockopt(pair.read.get(), SOL_SOCKET, SO_RCVTIMEO, &answer_time_max, sizeof answer_time_max);
  Forker forker(program, pid, std::move(pair.read));
  TRACEWEIR_TRY_VOID(started(failure, program));
  return forker;
}

pid_t Forker::fork(const std::vector<std::string>& command, const sandbox::Limits& limits, const Wiring& wiring) {
  if (forked_ >= forks_max) return -1;
  std::string words;
  for (std::size_t i = 2; i < command.size(); ++i) words += command[i] + '\0';
  sandbox::Request request{};
  request.limits = limits;
  request.parent = ::getpid();
  const pid_t pid = sandbox::ask_for_fork(socket_.get(), request, words, wiring);
  if (pid > 0) ++forked_;
  return pid;
}

}  // namespace traceweir::analysis
