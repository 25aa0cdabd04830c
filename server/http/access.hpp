// For: one line of the access log, as values. This room writes no log; the app's function does.
// Not for: writing the log.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace traceweir::http {

/// Everything in it is safe to be written: no header, no query (it may hold what should not have been sent there), no
/// control character.
struct AccessRecord {
  std::string request_id;
  std::string remote;           ///< address without port
  std::string method;           ///< empty: the request could not be read so far
  std::string route;            ///< the pattern that fitted; empty: none
  std::string target;           ///< the decoded path, cleaned; a token in it is masked
  std::uint16_t status = 0;     ///< 0: the client left before it had an answer
  std::uint64_t bytes_in = 0;   ///< of the body
  std::uint64_t bytes_out = 0;  ///< of the answer, with its head
  std::chrono::nanoseconds duration{};
  std::string error;  ///< the error's word and message, cleaned; empty: none
};

/// Thread: called from the threads that run the listener, at once from several.
using AccessLog = std::function<void(const AccessRecord&)>;

}  // namespace traceweir::http
