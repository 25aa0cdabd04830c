// For: what the service counts for its operators, and its text for Prometheus (GET /metrics).
// Not for: figures of traces (analyzer/metrics), deciding anything by a count. No project, user or file is ever named.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace traceweir::meters {

/// What is read at the moment of the question. Units: bytes, counts.
struct Levels {
  bool store_ready = false;
  std::uint64_t disk_free_bytes = 0, disk_headroom_bytes = 0;
  std::uint64_t queue_depth = 0, queue_depth_max = 0;
  std::uint64_t requests_waiting = 0;
};

/// One answered request. Shape: `route` is the pattern of the route, or empty where none fits, so that the number of
/// series has an end.
struct RequestSeen {
  std::string_view route, method;
  std::uint16_t status = 0;
  std::chrono::nanoseconds duration{};
  std::uint64_t bytes_in = 0, bytes_out = 0;
};

/// Owned by the app. Thread: share freely.
class Meters {
 public:
  Meters();
  ~Meters();
  Meters(const Meters&) = delete;
  Meters& operator=(const Meters&) = delete;

  void request(const RequestSeen& seen);

  /// A run that got its result. `result`: an outcome's word, or `rejected`.
  void run(std::string_view result);

  /// A run that could not be finished for the service's own reasons. `code`: one of run_error_codes; what is none of
  /// them is counted as the last one.
  void run_error(std::string_view code);

  /// What became of a notice to others, or of a try to send it: a word of notify::Delivery.
  void notice(std::string_view result);

  /// How long a run took from the queue to its result.
  void run_duration(std::chrono::nanoseconds duration);

  /// Prometheus text format 0.0.4. Cost: one line per series; reads /proc/self.
  [[nodiscard]] std::string text(const Levels& levels) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Why tries fail for the service's own reasons. Each is counted from 0 on, so that the first one is seen as an
/// increase. Each has its row in docs/operations.md.
std::span<const std::string_view> run_error_codes();

inline constexpr std::string_view text_type = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace traceweir::meters
