// For: a child that costs a fork, not the start of a program: `traceweir analyze --fork-server` is started early by the
// service, with an empty environment and nothing open but one socket, and forks a child of the service for each
// request. It holds no secret and no handle of anything, and never sees a byte of an upload. Not for: what the child
// does (cli/analyze.cpp); watching it (server/analysis/child.hpp).
//
// One request is one packet on the socket: a Request, the words of the command line with a NUL behind each, and beside
// them the descriptors of the child. The answer is one number: the child's id, or an errno below zero. The child is the
// service's own (clone(2), CLONE_PARENT): it waits for it, kills it and reads its end as of any other, and an id is not
// given away before the service let it go. When the socket ends, so does the fork server.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/confinement.hpp"

namespace traceweir::sandbox {

/// The fork server's end of its socket.
inline constexpr int control_descriptor = 3;
/// What ps(1) calls it, so that it is told from the children.
inline constexpr const char* server_name = "fork-server";

struct Request {
  Limits limits;
  int parent;                  ///< of the child: the service
  std::uint32_t wiring;        ///< how many places the child's descriptors have
  std::uint64_t present;       ///< bit i: place i has one, sent in this order; the others are closed
  std::uint32_t words;         ///< bytes of them
  std::uint32_t reserved = 0;  ///< so that no byte of it is undefined
};

inline constexpr std::size_t wiring_max = 64;
inline constexpr std::size_t words_bytes_max = 32 * 1024;

/// A child of the service, just forked: confined, with its descriptors in place.
struct Forked {
  std::vector<std::string> words;
};

/// Serves requests from `control_descriptor`. Returns in each child; the server itself ends with its socket.
/// Cost: a fork of a small process. Thread: of a process that has one.
Forked serve_forks();

/// The service's end. Nothing of it is a Result, since there is always another way: to start the program.
/// The child's id; 0: the request is too large for a packet; -1: the server is gone.
int ask_for_fork(int socket, Request request, std::string_view words, std::span<const int> wiring);

}  // namespace traceweir::sandbox
