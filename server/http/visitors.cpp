#include "server/http/visitors.hpp"

#include <openssl/sha.h>

#include <algorithm>
#include <cmath>

namespace traceweir::http {
namespace {

/// What a token is known by here: its text is kept nowhere.
std::string hash_of(std::string_view authorization) {
  std::string hash(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(authorization.data()), authorization.size(),
         reinterpret_cast<unsigned char*>(hash.data()));
  return hash;
}

std::chrono::seconds whole(std::chrono::duration<double> wait) {
  return std::chrono::seconds{static_cast<std::int64_t>(std::ceil(std::clamp(wait.count(), 1.0, 3600.0)))};
}

Rate rate_of_requests(const HttpLimits& limits) {
  const auto per_second = static_cast<double>(limits.requests_per_address_max);
  return {per_second, per_second * requests_burst_seconds};
}

/// Half at once and half again within the minute: never more than all of them in any minute.
Rate rate_of_failures(const HttpLimits& limits) {
  const double half = static_cast<double>(limits.failed_authentications_max) / 2;
  return {half / 60, std::max(half, 1.0)};
}

}  // namespace

Visitors::Visitors(const HttpLimits& limits)
    : limits_(limits),
      requests_(rate_of_requests(limits), addresses_max),
      failures_(rate_of_failures(limits), addresses_max) {}

Visit::~Visit() {
  if (visitors_ != nullptr) visitors_->leave(client_);
}

std::optional<Visit> Visitors::enter(const std::string& client) {
  const std::lock_guard lock(mutex_);
  std::size_t& count = connections_[client];
  if (count >= limits_.connections_per_address_max) return std::nullopt;
  ++count;
  return Visit(*this, client);
}

void Visitors::leave(const std::string& client) {
  const std::lock_guard lock(mutex_);
  const auto known = connections_.find(client);
  if (known != connections_.end() && --known->second == 0) connections_.erase(known);
}

std::optional<TurnedBack> Visitors::ask(const std::string& client, std::string_view authorization,
                                        Clock::time_point now) {
  if (limits_.requests_per_address_max > 0) {
    const auto wait = requests_.take(client, now);
    if (wait.count() > 0)
      return TurnedBack{"more requests than requests_per_address_max = " +
                            std::to_string(limits_.requests_per_address_max) + " a second",
                        whole(wait)};
  }
  if (authorization.empty()) return std::nullopt;
  const auto wait = failures_.wait(client, now);
  if (wait.count() == 0 || is_known(hash_of(authorization))) return std::nullopt;
  return too_many_failures(wait);
}

std::optional<TurnedBack> Visitors::was_valid(const std::string& client, std::string_view authorization,
                                              Clock::time_point now) {
  const std::string hash = hash_of(authorization);
  const auto wait = failures_.wait(client, now);
  if (wait.count() > 0 && !is_known(hash)) return too_many_failures(wait);
  remember(hash);
  return std::nullopt;
}

void Visitors::remember(const std::string& hash) {
  const std::lock_guard lock(mutex_);
  if (const auto known = by_hash_.find(hash); known != by_hash_.end())
    return known_.splice(known_.begin(), known_, known->second);
  known_.push_front(hash);
  by_hash_[hash] = known_.begin();
  if (known_.size() <= known_tokens_max) return;
  by_hash_.erase(known_.back());
  known_.pop_back();
}

std::optional<TurnedBack> Visitors::was_wrong(const std::string& client, std::string_view authorization,
                                              Clock::time_point now) {
  forget(hash_of(authorization));
  const auto wait = failures_.take(client, now);
  if (wait.count() == 0) return std::nullopt;
  return too_many_failures(wait);
}

bool Visitors::is_known(const std::string& hash) {
  const std::lock_guard lock(mutex_);
  return by_hash_.contains(hash);
}

void Visitors::forget(const std::string& hash) {
  const std::lock_guard lock(mutex_);
  const auto known = by_hash_.find(hash);
  if (known == by_hash_.end()) return;
  known_.erase(known->second);
  by_hash_.erase(known);
}

TurnedBack Visitors::too_many_failures(std::chrono::duration<double> wait) const {
  return {"more tries with a wrong token than failed_authentications_max = " +
              std::to_string(limits_.failed_authentications_max) + " a minute",
          whole(wait)};
}

}  // namespace traceweir::http
