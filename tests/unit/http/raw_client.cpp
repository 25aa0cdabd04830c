#include "tests/unit/http/raw_client.hpp"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "server/http/ascii.hpp"

using traceweir::http::lower;
using traceweir::http::split;
using traceweir::http::trimmed;

RawClient::RawClient(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const timeval limit{20, 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
}

RawClient::~RawClient() { ::close(socket_); }

bool RawClient::send(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

void RawClient::end_sending() { ::shutdown(socket_, SHUT_WR); }

bool RawClient::fill() {
  std::array<char, 65536> piece;
  const ssize_t count = ::recv(socket_, piece.data(), piece.size(), 0);
  if (count <= 0) return false;
  buffer_.append(piece.data(), static_cast<std::size_t>(count));
  return true;
}

Answer RawClient::read_head() {
  Answer answer;
  while (buffer_.find("\r\n\r\n") == std::string::npos)
    if (!fill()) return answer;
  const std::string head = buffer_.substr(0, buffer_.find("\r\n\r\n"));
  buffer_.erase(0, head.size() + 4);
  answer.status = std::stoi(head.substr(9, 3));
  for (const std::string_view line : split(head, '\n')) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string_view::npos) continue;
    const std::string_view value = line.substr(colon + 2);
    answer.fields[lower(line.substr(0, colon))] = std::string(value.substr(0, value.find('\r')));
  }
  return answer;
}

Answer RawClient::answer_to_head() { return read_head(); }

Answer RawClient::answer() {
  Answer answer = read_head();
  const auto length = answer.fields.find("content-length");
  if (length == answer.fields.end()) return answer;
  const std::size_t bytes = std::stoul(length->second);
  while (buffer_.size() < bytes && fill()) {
  }
  answer.body = buffer_.substr(0, bytes);
  buffer_.erase(0, std::min(bytes, buffer_.size()));
  return answer;
}

Answer RawClient::ask(std::string_view text) {
  send(text);
  return answer();
}

bool RawClient::is_at_end() { return buffer_.empty() && !fill(); }
