// For: notices to one address: signed, in order, tried again, from a queue with an end and a thread of its own. Whoever
// hands one over never waits, and a receiver that is away harms nobody.
// Not for: what is worth a notice (server/pipeline), or the words of the configuration (server/app).
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>

#include "server/notify/notice.hpp"
#include "server/outbound/caller.hpp"

namespace traceweir::notify {

/// What became of a notice, or of a try.
enum class Delivery {
  sent,     ///< answered by 2xx
  retried,  ///< a try failed, another one follows
  failed,   ///< given up: refused, or no try succeeded
  dropped,  ///< the queue was full
};
std::string_view word(Delivery delivery);

struct WebhookSettings {
  outbound::Address address;
  std::string secret;
  std::chrono::milliseconds time_max{10'000};  ///< of one try
  std::chrono::milliseconds pause{1'000};      ///< after the first try; doubled after each further one
  std::size_t queue_max = 256;                 ///< notices that wait
};

/// How often a notice is tried.
inline constexpr int tries_max = 5;

/// Thread: submit() from any. `on_delivery` is called on the webhook's thread, or for `dropped` on the submitter's.
class Webhook {
 public:
  using OnDelivery = std::function<void(Delivery delivery, const Notice& notice, const std::string& why)>;
  using NewId = std::function<std::string()>;

  Webhook(WebhookSettings settings, NewId new_id, OnDelivery on_delivery);
  /// As stop(0).
  ~Webhook();
  Webhook(const Webhook&) = delete;
  Webhook& operator=(const Webhook&) = delete;

  /// Puts it into the queue. Never waits.
  void submit(Notice notice);

  /// Takes no further notice. Those that wait are tried at once, until the time is up; the rest has failed.
  void stop(std::chrono::milliseconds limit);

 private:
  struct Job {
    Notice notice;
    std::string id;
  };

  void work();
  std::optional<Job> next();
  void deliver(const Job& job);
  Result<unsigned> try_once(const Job& job);
  bool wait_after_try(int number);

  WebhookSettings settings_;
  NewId new_id_;
  OnDelivery on_delivery_;
  outbound::Caller caller_;
  std::mt19937_64 random_{std::random_device{}()};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> queue_;
  bool stopping_ = false, ended_ = false;
  std::thread thread_;
};

}  // namespace traceweir::notify
