// For: telling a person who waits how far an upload is: a bar on a terminal, a line now and then in a CI's log.
// Not for: sending.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace traceweir::cli {

/// How far, how fast, how long still: `12 % of 4.0 GiB, 85.0 MiB/s, 41 s left`. Units: bytes.
std::string progress_text(std::uint64_t done, std::uint64_t total, std::chrono::duration<double> since_start);

/// Called with bytes done and in all. `what`: the file's name. Writes to stderr; a small file says nothing in a log.
std::function<void(std::uint64_t done, std::uint64_t total)> progress_of(std::string what);

/// Takes the bar away, so that what follows begins on a clean line.
void clear_progress();

}  // namespace traceweir::cli
