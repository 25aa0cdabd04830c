// For: how often each client does something: a bucket per client, in bounded memory.
// Not for: who a client is (addresses.hpp), or what is refused (visitors.hpp).
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <mutex>
#include <string>
#include <unordered_map>

namespace traceweir::http {

struct Rate {
  double per_second = 0;
  double burst = 1;  ///< at once, after a while of nothing
};

/// Buckets that start full and fill again. Of more clients than fit, the one that was not seen for longest is
/// forgotten: its bucket is full again.
/// Cost: constant per call. Thread: any.
class RateTable {
 public:
  using Clock = std::chrono::steady_clock;

  RateTable(Rate rate, std::size_t clients_max) : rate_(rate), clients_max_(clients_max) {}

  /// Takes one from the bucket. Zero: it was taken; else nothing was, and how long it is until there is one.
  std::chrono::duration<double> take(const std::string& client, Clock::time_point now);

  /// How long it is until there is one; nothing is taken, and nobody new is remembered.
  [[nodiscard]] std::chrono::duration<double> wait(const std::string& client, Clock::time_point now) const;

  [[nodiscard]] std::size_t size() const;

 private:
  struct Bucket {
    std::string client;
    double left;
    Clock::time_point at;
  };

  [[nodiscard]] double left_in(const Bucket& bucket, Clock::time_point now) const;
  [[nodiscard]] std::chrono::duration<double> until_one(double left) const;

  Rate rate_;
  std::size_t clients_max_;
  mutable std::mutex mutex_;
  std::list<Bucket> buckets_;  ///< the one that was used last comes first
  std::unordered_map<std::string, std::list<Bucket>::iterator> by_client_;
};

}  // namespace traceweir::http
