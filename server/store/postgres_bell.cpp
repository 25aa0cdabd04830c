#include "server/store/postgres_bell.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "server/store/postgres_connection.hpp"
#include "server/store/postgres_settings.hpp"

namespace traceweir::store {
namespace {

constexpr const char* channel = "traceweir_jobs";
/// Before the next try to reach a database that was away.
constexpr std::chrono::milliseconds rest_time{1000};
/// Between two rings: under load a ring for each job would be a good part of what a job costs.
constexpr std::chrono::milliseconds ring_pause{50};

/// What no other bell of the database calls itself: its own ringing is not news to it.
std::string new_name(const void* self) {
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return std::to_string(::getpid()) + ' ' + std::to_string(now) + ' ' +
         std::to_string(reinterpret_cast<std::uintptr_t>(self));
}

void notify(PostgresConnection& connection, const std::string& from) {
  if (connection.is_settled())
    connection.begin_single(Access::writing);
  else
    connection.begin(Access::writing, transaction_settings(Access::writing));
  connection.query("SELECT pg_notify($1, $2)", channel, from);
  connection.commit();
  connection.roll_back();
}

void clear(int descriptor) {
  std::uint64_t count = 0;
  while (::read(descriptor, &count, sizeof count) > 0) continue;
}

}  // namespace

PostgresBell::PostgresBell(std::string address, std::function<void()> on_ring)
    : address_(std::move(address)),
      name_(new_name(this)),
      on_ring_(std::move(on_ring)),
      wakes_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { work(); }) {}

PostgresBell::~PostgresBell() {
  ended_ = true;
  wake();
  thread_.join();
  ::close(wakes_);
}

void PostgresBell::ring() {
  rung_ = true;
  wake();
}

void PostgresBell::wake() const {
  constexpr std::uint64_t one = 1;
  static_cast<void>(::write(wakes_, &one, sizeof one) == sizeof one);  // full is as good
}

void PostgresBell::work() {
  while (!ended_) {
    try {
      listen();
    } catch (const PostgresFailure&) {
      rest();  // the store's own connections tell what is wrong with the database
    }
  }
}

/// Hears and rings until the end. Throws PostgresFailure.
void PostgresBell::listen() {
  PostgresConnection connection(address_);
  // Behind a pooler LISTEN would stay on a session of the server that is somebody else's next: nobody is heard there.
  if (connection.is_direct())
    connection.listen(channel, [this](std::string_view from) {
      if (from != name_) on_ring_();
    });
  connection.settle(session_settings());
  auto may_ring = std::chrono::steady_clock::now();
  while (!ended_) {
    clear(wakes_);
    const auto now = std::chrono::steady_clock::now();
    if (now >= may_ring && rung_.exchange(false)) {
      notify(connection, name_);
      may_ring = now + ring_pause;
    }
    connection.wait_for_notice(
        wakes_, rung_ ? std::optional(std::chrono::ceil<std::chrono::milliseconds>(may_ring - now)) : std::nullopt);
  }
}

void PostgresBell::rest() {
  const auto end = std::chrono::steady_clock::now() + rest_time;
  while (!ended_) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd wakes{wakes_, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&wakes, 1, static_cast<int>(left.count())) < 0) return;
    clear(wakes_);
  }
}

}  // namespace traceweir::store
