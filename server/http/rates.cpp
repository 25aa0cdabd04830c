#include "server/http/rates.hpp"

#include <algorithm>

namespace traceweir::http {

using Seconds = std::chrono::duration<double>;

double RateTable::left_in(const Bucket& bucket, Clock::time_point now) const {
  const double filled = std::max(Seconds(now - bucket.at).count(), 0.0) * rate_.per_second;
  return std::min(rate_.burst, bucket.left + filled);
}

Seconds RateTable::until_one(double left) const {
  if (left >= 1) return Seconds{0};
  return Seconds{(1 - left) / std::max(rate_.per_second, 1e-9)};
}

Seconds RateTable::take(const std::string& client, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  const auto known = by_client_.find(client);
  if (known == by_client_.end()) {
    buckets_.push_front({client, rate_.burst, now});
    by_client_[client] = buckets_.begin();
  } else {
    buckets_.splice(buckets_.begin(), buckets_, known->second);
  }
  Bucket& bucket = buckets_.front();
  bucket.left = left_in(bucket, now);
  bucket.at = now;
  const Seconds wait = until_one(bucket.left);
  if (wait == Seconds{0}) bucket.left -= 1;
  if (buckets_.size() > clients_max_) {
    by_client_.erase(buckets_.back().client);
    buckets_.pop_back();
  }
  return wait;
}

Seconds RateTable::wait(const std::string& client, Clock::time_point now) const {
  const std::lock_guard lock(mutex_);
  const auto known = by_client_.find(client);
  return known == by_client_.end() ? Seconds{0} : until_one(left_in(*known->second, now));
}

std::size_t RateTable::size() const {
  const std::lock_guard lock(mutex_);
  return buckets_.size();
}

}  // namespace traceweir::http
