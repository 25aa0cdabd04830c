#include "server/notify/webhook.hpp"

#include <fmt/format.h>

#include <utility>

#include "analyzer/core/words.hpp"
#include "server/notify/signature.hpp"

namespace traceweir::notify {
namespace {

constexpr Word<Delivery> delivery_words[] = {{Delivery::sent, "sent"},
                                             {Delivery::retried, "retried"},
                                             {Delivery::failed, "failed"},
                                             {Delivery::dropped, "dropped"}};

/// Answers after which another try may succeed; other refusals, and redirects, are final.
bool may_succeed_later(unsigned status) { return status >= 500 || status == 408 || status == 425 || status == 429; }

bool is_success(unsigned status) { return status >= 200 && status < 300; }

std::string timestamp_now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(since).count());
}

}  // namespace

std::string_view word(Delivery delivery) { return word_of(delivery_words, delivery); }

Webhook::Webhook(WebhookSettings settings, NewId new_id, OnDelivery on_delivery)
    : settings_(std::move(settings)),
      new_id_(std::move(new_id)),
      on_delivery_(std::move(on_delivery)),
      caller_(settings_.address),
      thread_([this] { work(); }) {}

Webhook::~Webhook() { stop(std::chrono::milliseconds{0}); }

void Webhook::submit(Notice notice) {
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_ && queue_.size() < settings_.queue_max) {
      queue_.push_back({std::move(notice), new_id_()});
      changed_.notify_all();
      return;
    }
  }
  on_delivery_(Delivery::dropped, notice, "the queue of notices is full, or the service stops");
}

void Webhook::stop(std::chrono::milliseconds limit) {
  {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
    changed_.wait_for(lock, limit, [this] { return ended_; });
  }
  caller_.cancel();
  if (thread_.joinable()) thread_.join();
}

void Webhook::work() {
  while (const auto job = next()) deliver(*job);
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

/// Nothing: it is over.
std::optional<Webhook::Job> Webhook::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
  if (queue_.empty()) return std::nullopt;
  Job job = std::move(queue_.front());
  queue_.pop_front();
  return job;
}

void Webhook::deliver(const Job& job) {
  bool is_last = false;
  for (int number = 1;; ++number) {
    const auto status = try_once(job);
    if (status && is_success(*status)) return on_delivery_(Delivery::sent, job.notice, "");
    const std::string why = status ? fmt::format("answered by {}", *status) : status.error().message;
    const bool again = !is_last && number < tries_max && (!status || may_succeed_later(*status));
    on_delivery_(again ? Delivery::retried : Delivery::failed, job.notice, why);
    if (!again) return;
    is_last = !wait_after_try(number);
  }
}

Result<unsigned> Webhook::try_once(const Job& job) {
  outbound::Call call;
  call.verb = outbound::Call::Verb::post;
  call.body = to_json(job.notice);
  const std::string timestamp = timestamp_now();
  call.headers = {{"X-Traceweir-Event", job.notice.kind},
                  {"X-Traceweir-Delivery", job.id},
                  {"X-Traceweir-Timestamp", timestamp},
                  {"X-Traceweir-Signature", signature_of(settings_.secret, timestamp, call.body)}};
  TRACEWEIR_TRY(answer, caller_.send(call, settings_.time_max));
  return answer.status;
}

/// Waits 1, 2, 4, … pauses, each between half and one and a half times as long, so that services that failed together
/// do not come back together. False: the service stops, and the next try is the last one.
bool Webhook::wait_after_try(int number) {
  const double jitter = std::uniform_real_distribution<double>(0.5, 1.5)(random_);
  const double pauses = static_cast<double>(1 << (number - 1));
  const auto pause = std::chrono::duration<double, std::milli>(settings_.pause) * pauses * jitter;
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, pause, [this] { return stopping_; });
}

}  // namespace traceweir::notify
