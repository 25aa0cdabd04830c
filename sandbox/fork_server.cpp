#include "sandbox/fork_server.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace traceweir::sandbox {
namespace {

/// Room for the descriptors of one packet, aligned as the kernel wants it.
struct Ancillary {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(wiring_max * sizeof(int))> bytes{};
};

/// A packet as it was received. It is overwritten by the next one, so that a child knows nothing of those before it.
struct Packet {
  Request request{};
  std::array<char, words_bytes_max> words{};
  std::array<int, wiring_max> descriptors{};
  std::size_t count = 0;  ///< of descriptors
};

void take_descriptors(msghdr& message, Packet& packet) {
  packet.count = 0;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    packet.count = std::min((part->cmsg_len - CMSG_LEN(0)) / sizeof(int), wiring_max);
    std::memcpy(packet.descriptors.data(), CMSG_DATA(part), packet.count * sizeof(int));
  }
}

enum class Received { packet, nonsense, end };

Received receive(Packet& packet) {
  packet.words.fill(0);
  Ancillary ancillary;
  std::array<iovec, 2> parts{iovec{&packet.request, sizeof packet.request},
                             iovec{packet.words.data(), packet.words.size()}};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  message.msg_control = ancillary.bytes.data();
  message.msg_controllen = ancillary.bytes.size();
  ssize_t bytes = -1;
  do {
    bytes = ::recvmsg(control_descriptor, &message, MSG_CMSG_CLOEXEC);
  } while (bytes < 0 && errno == EINTR);
  if (bytes <= 0) return Received::end;
  take_descriptors(message, packet);
  const bool whole = static_cast<std::size_t>(bytes) == sizeof packet.request + packet.request.words &&
                     packet.request.wiring <= wiring_max && (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
  return whole ? Received::packet : Received::nonsense;
}

/// The child's wiring: the descriptors that came, each in its place.
std::array<int, wiring_max> wiring_of(const Packet& packet) {
  std::array<int, wiring_max> wiring{};
  wiring.fill(-1);
  std::size_t next = 0;
  for (std::size_t i = 0; i < packet.request.wiring && next < packet.count; ++i)
    if ((packet.request.present >> i & 1U) != 0) wiring[i] = packet.descriptors[next++];
  return wiring;
}

/// A child of our parent. There is one thread and no handler of fork, so that nothing is missed by not asking the C
/// library, which knows no such fork.
pid_t fork_sibling() {
  return static_cast<pid_t>(::syscall(SYS_clone, CLONE_PARENT | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
}

Forked become_child(const Packet& packet) {
  auto wiring = wiring_of(packet);
  const bool ready = stand_alone(packet.request.parent) &&
                     place(std::span(wiring).first(packet.request.wiring), Others::go_now) &&
                     apply(packet.request.limits);
  // Nobody has read anything yet: killed from outside is what this looks like, and the analysis is tried again.
  if (!ready) ::kill(::getpid(), SIGKILL);
  ::prctl(PR_SET_NAME, "traceweir");
  Forked forked;
  std::string_view words(packet.words.data(), packet.request.words);
  for (std::size_t end = words.find('\0'); end != std::string_view::npos; end = words.find('\0')) {
    forked.words.emplace_back(words.substr(0, end));
    words.remove_prefix(end + 1);
  }
  return forked;
}

void answer(std::int64_t number) {
  if (::send(control_descriptor, &number, sizeof number, MSG_NOSIGNAL) < 0) ::_exit(0);
}

}  // namespace

Forked serve_forks() {
  static Packet packet;  // too large for a stack that every child has
  ::prctl(PR_SET_NAME, server_name);
  for (;;) {
    const Received received = receive(packet);
    if (received == Received::end) ::_exit(0);
    const pid_t pid = received == Received::packet ? fork_sibling() : -1;
    if (pid == 0) return become_child(packet);
    const int number = received == Received::packet ? errno : EINVAL;
    for (std::size_t i = 0; i < packet.count; ++i) ::close(packet.descriptors[i]);
    answer(pid > 0 ? pid : -number);
  }
}

pid_t ask_for_fork(int socket, Request request, std::string_view words, std::span<const int> wiring) {
  if (words.size() > words_bytes_max || wiring.size() > wiring_max) return 0;
  std::array<int, wiring_max> descriptors{};
  std::size_t count = 0;
  request.wiring = static_cast<std::uint32_t>(wiring.size());
  request.words = static_cast<std::uint32_t>(words.size());
  request.present = 0;
  for (std::size_t i = 0; i < wiring.size(); ++i) {
    if (wiring[i] < 0) continue;
    request.present |= std::uint64_t{1} << i;
    descriptors[count++] = wiring[i];
  }
  Ancillary ancillary;
  std::array<iovec, 2> parts{iovec{&request, sizeof request}, iovec{const_cast<char*>(words.data()), words.size()}};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  message.msg_control = ancillary.bytes.data();
  message.msg_controllen = CMSG_SPACE(count * sizeof(int));
  cmsghdr* const part = CMSG_FIRSTHDR(&message);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(count * sizeof(int));
  std::memcpy(CMSG_DATA(part), descriptors.data(), count * sizeof(int));
  if (::sendmsg(socket, &message, MSG_NOSIGNAL) < 0) return -1;
  std::int64_t number = 0;
  ssize_t bytes = -1;
  do {
    bytes = ::recv(socket, &number, sizeof number, 0);
  } while (bytes < 0 && errno == EINTR);
  return bytes == sizeof number && number > 0 ? static_cast<pid_t>(number) : -1;
}

}  // namespace traceweir::sandbox
