// For: what the reference programs of the benchmark say of themselves: one line of JSON with their processor time,
// their wall time and what they found, so that a reference that does not do its work is seen. Not for: the programs
// that are measured against them; those are timed from outside.
#pragma once

#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <string>

namespace traceweir::bench {

/// Units: seconds of user and system time of this process.
inline double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Begins with its own making.
class Stopwatch {
 public:
  /// Prints the line. `facts`: `"kernels": 3`, or nothing.
  void print(const std::string& facts) const {
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begun_;
    fmt::print("{{\"cpu_s\": {:.6f}, \"wall_s\": {:.6f}{}{}}}\n", cpu_seconds() - cpu_, wall.count(),
               facts.empty() ? "" : ", ", facts);
  }

 private:
  double cpu_ = cpu_seconds();
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

}  // namespace traceweir::bench
