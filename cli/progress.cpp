#include "cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <utility>

#include "analyzer/core/metric.hpp"
#include "gate/units.hpp"

namespace traceweir::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr Seconds bar_every{0.1};
/// A CI keeps every line of its log.
constexpr Seconds line_every{10};

std::string bytes_text(double bytes) { return gate::human(bytes, Unit::bytes); }

std::string time_text(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  if (seconds < 6000) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

class Progress {
 public:
  explicit Progress(std::string what) : what_(std::move(what)), terminal_(isatty(STDERR_FILENO) != 0) {}

  void operator()(std::uint64_t done, std::uint64_t total) {
    const Clock::time_point now = Clock::now();
    const Seconds since_start = now - start_;
    if (terminal_ && done == total) {
      fmt::print(stderr, "\r\x1b[K{}: sent, waiting for the verdict", what_);
    } else if (terminal_ && now - said_ >= bar_every) {
      fmt::print(stderr, "\r\x1b[K{}: {}", what_, progress_text(done, total, since_start));
    } else if (!terminal_ && done == total && since_start >= line_every) {
      fmt::print(stderr, "traceweir: {}: sent {} in {}\n", what_, bytes_text(static_cast<double>(total)),
                 time_text(since_start.count()));
    } else if (!terminal_ && done < total && now - said_ >= line_every) {
      fmt::print(stderr, "traceweir: {}: {}\n", what_, progress_text(done, total, since_start));
    } else {
      return;
    }
    said_ = now;
    std::fflush(stderr);
  }

 private:
  std::string what_;
  bool terminal_;
  Clock::time_point start_ = Clock::now(), said_ = start_;
};

}  // namespace

std::string progress_text(std::uint64_t done, std::uint64_t total, std::chrono::duration<double> since_start) {
  const double share = total == 0 ? 1 : static_cast<double>(done) / static_cast<double>(total);
  std::string text = fmt::format("{:.0f} % of {}", share * 100, bytes_text(static_cast<double>(total)));
  if (since_start.count() <= 0 || done == 0) return text;
  const double rate = static_cast<double>(done) / since_start.count();
  const double left = total > done ? static_cast<double>(total - done) / rate : 0;
  return text + fmt::format(", {}/s, {} left", bytes_text(rate), time_text(left));
}

void clear_progress() {
  if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\x1b[K");
}

std::function<void(std::uint64_t, std::uint64_t)> progress_of(std::string what) {
  const auto progress = std::make_shared<Progress>(std::move(what));  // std::function copies what it holds
  return [progress](std::uint64_t done, std::uint64_t total) { (*progress)(done, total); };
}

}  // namespace traceweir::cli
