#include "sandbox/fork_server.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

using namespace traceweir;

namespace {

constexpr int exit_code = 7;

std::string all_of(int descriptor) {
  std::string text;
  std::array<char, 256> piece;
  for (ssize_t n = 0; (n = ::read(descriptor, piece.data(), piece.size())) > 0;)
    text.append(piece.data(), static_cast<std::size_t>(n));
  return text;
}

/// What a child finds of itself, in one line: its words, its descriptors, its limit on files, its parent.
std::string findings(const sandbox::Forked& forked) {
  std::string line;
  for (const std::string& word : forked.words) line += word + ' ';
  for (int descriptor = 0; descriptor < 64; ++descriptor)
    if (::fcntl(descriptor, F_GETFD) >= 0) line += std::to_string(descriptor) + ' ';
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  std::array<char, 64> folder{};
  line += "limit " + std::to_string(files.rlim_cur) + " in " + ::getcwd(folder.data(), folder.size());
  line += ::getsid(0) == ::getpid() ? " alone" : " among others";
  return line + " of " + std::to_string(::getppid());
}

/// A fork server whose children say what they find on descriptor 1, or die where they are told to.
class Server {
 public:
  Server() {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) == 0);
    socket_ = ends[0];
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(ends[0]);
      serve(ends[1]);
    }
    ::close(ends[1]);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() { end(); }

  /// Ends with its socket, by itself.
  int end() {
    if (socket_ < 0) return 0;
    ::close(socket_);
    socket_ = -1;
    int status = -1;
    ::waitpid(pid_, &status, 0);
    return status;
  }
  void kill() const {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] int socket() const { return socket_; }

 private:
  [[noreturn]] static void serve(int end) {
    ::dup2(end, sandbox::control_descriptor);
    const sandbox::Forked forked = sandbox::serve_forks();
    if (!forked.words.empty() && forked.words.front() == "die") ::kill(::getpid(), SIGKILL);
    const std::string line = findings(forked);
    ::_exit(::write(1, line.data(), line.size()) < 0 ? 1 : exit_code);
  }

  pid_t pid_ = -1;
  int socket_ = -1;
};

sandbox::Request request(std::uint64_t descriptors_max = 20) {
  sandbox::Request asked{};
  asked.limits = {10, 0, descriptors_max, 0};
  asked.parent = ::getpid();
  return asked;
}

struct Child {
  std::string said;
  int status = -1;
};

/// Asks for a child that writes to a pipe of ours, at place 1 of three, and waits for it as for any child.
Child run(const Server& server, std::string_view words) {
  std::array<int, 2> pipe{};
  REQUIRE(::pipe2(pipe.data(), O_CLOEXEC) == 0);
  const std::array<int, 3> wiring = {-1, pipe[1], -1};
  const pid_t pid = sandbox::ask_for_fork(server.socket(), request(), words, wiring);
  ::close(pipe[1]);
  Child child;
  if (pid > 0) {
    child.said = all_of(pipe[0]);
    REQUIRE(::waitpid(pid, &child.status, 0) == pid);  // only a parent can
  }
  ::close(pipe[0]);
  return child;
}

std::string as_found(const std::string& words) {
  return words + "1 limit 20 in / alone of " + std::to_string(::getpid());
}

}  // namespace

TEST_CASE("fork server: a child is the caller's own, confined, with its words and descriptors alone") {
  Server server;
  const Child child = run(server, std::string_view("--window=steps\0--\0-\0", 20));
  CHECK(child.said == as_found("--window=steps -- - "));
  CHECK(WEXITSTATUS(child.status) == exit_code);
  // Why: what one client asked for is not the next one's to see.
  CHECK(run(server, std::string_view("-\0", 2)).said == as_found("- "));
  CHECK(run(server, "").said == as_found(""));
  CHECK(WIFEXITED(server.end()));
}

TEST_CASE("fork server: a child that dies takes nobody with it") {
  const Server server;
  const Child child = run(server, std::string_view("die\0", 4));
  CHECK(WIFSIGNALED(child.status));
  CHECK(WTERMSIG(child.status) == SIGKILL);
  CHECK(run(server, "").said == as_found(""));
}

TEST_CASE("fork server: a child of a parent that is not the caller does not begin") {
  const Server server;
  auto asked = request();
  asked.parent = 1;
  const std::array<int, 1> wiring = {-1};
  const pid_t pid = sandbox::ask_for_fork(server.socket(), asked, "", wiring);
  REQUIRE(pid > 0);
  int status = 0;
  ::waitpid(pid, &status, 0);
  CHECK(WIFSIGNALED(status));
}

TEST_CASE("fork server: what is no request is refused, and the next one is served") {
  const Server server;
  REQUIRE(::send(server.socket(), "x", 1, MSG_NOSIGNAL) == 1);
  std::int64_t answer = 0;
  REQUIRE(::recv(server.socket(), &answer, sizeof answer, 0) == sizeof answer);
  CHECK(answer == -EINVAL);
  CHECK(run(server, "").said == as_found(""));
}

TEST_CASE("fork server: too much for a packet, and a server that is gone, are told apart") {
  const Server server;
  const std::array<int, 1> wiring = {-1};
  const std::string long_words(sandbox::words_bytes_max + 1, 'a');
  const std::array<int, sandbox::wiring_max + 1> wide{};
  CHECK(sandbox::ask_for_fork(server.socket(), request(), long_words, wiring) == 0);
  CHECK(sandbox::ask_for_fork(server.socket(), request(), "", wide) == 0);
  server.kill();
  CHECK(sandbox::ask_for_fork(server.socket(), request(), "", wiring) == -1);
}
