#include "cli/patience.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>
#include <thread>

namespace traceweir::cli {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/// A service that is restarted is back within seconds, a node that is replaced within a minute: five tries with growing
/// pauses bridge both.
constexpr int tries_max = 5;
/// The pauses' shares of the time that there is; with all jitter to the long side they use it up.
constexpr double shares[] = {1.0 / 60, 3.0 / 60, 9.0 / 60, 27.0 / 60};

bool may_succeed_later(const Result<ClientAnswer>& answer) {
  if (!answer) return answer.error().code == ErrorCode::unreachable;
  return answer->status == 429 || answer->status == 502 || answer->status == 503 || answer->status == 504;
}

}  // namespace

Result<ClientAnswer> send_with_patience(const Client& client, const ClientRequest& request) {
  std::minstd_rand random(std::random_device{}());
  std::uniform_real_distribution<double> jitter(0.5, 1.5);
  const Seconds time_max = client.retry_time_max();
  std::optional<Clock::time_point> end;
  for (int attempt = 1;; ++attempt) {
    auto answer = client.send(request);
    if (!may_succeed_later(answer) || attempt == tries_max) return answer;
    if (!end) end = Clock::now() + std::chrono::duration_cast<Clock::duration>(time_max);
    const Seconds asked = answer ? Seconds(answer->retry_after) : 0s;
    const Seconds pause = std::max(time_max * shares[attempt - 1] * jitter(random), asked);
    const Error error = answer ? error_of(*answer) : answer.error();
    const bool time_is_up = Clock::now() + pause > *end;
    fmt::print(stderr, "traceweir: {}: {} (try {} of {}{})\n", word(error.code), error.message, attempt, tries_max,
               time_is_up ? ", and no time for more" : fmt::format(", next in {:.0f} s", pause.count()));
    if (time_is_up) return answer;
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace traceweir::cli
