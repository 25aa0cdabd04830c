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

/// A service that is restarted is back within seconds: a few tries with growing pauses bridge that.
constexpr int tries_max = 4;
constexpr std::chrono::milliseconds first_pause{250};
/// The longest pause that a service may ask for.
constexpr std::chrono::seconds retry_after_max{15};

bool may_succeed_later(const Result<ClientAnswer>& answer) {
  return !answer || answer->status == 502 || answer->status == 503 || answer->status == 504;
}

}  // namespace

Result<ClientAnswer> send_with_patience(const Client& client, const ClientRequest& request) {
  std::minstd_rand random(std::random_device{}());
  std::chrono::milliseconds pause = first_pause;
  for (int attempt = 1;; ++attempt) {
    auto answer = client.send(request);
    if (!may_succeed_later(answer) || attempt == tries_max) return answer;
    const Error error = answer ? error_of(*answer) : answer.error();
    fmt::print(stderr, "traceweir: {}: {} (try {} of {})\n", word(error.code), error.message, attempt, tries_max);
    const std::chrono::milliseconds asked = answer ? std::min(answer->retry_after, retry_after_max) : 0s;
    std::this_thread::sleep_for(std::max(pause, asked) + std::chrono::milliseconds(random() % 250));
    pause *= 2;
  }
}

}  // namespace traceweir::cli
