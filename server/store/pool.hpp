// For: a bounded set of connections that threads borrow. Not for: opening or healing them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace traceweir::store {

/// Thread: safe from any thread. The pool outlives its leases.
template <typename Connection>
class Pool {
 public:
  /// A borrowed connection, given back at the end of its life. Empty when none became free in time.
  class Lease {
   public:
    Lease(Pool* pool, std::unique_ptr<Connection> connection) : pool_(pool), connection_(std::move(connection)) {}
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() {
      if (connection_) pool_->add(std::move(connection_));
    }
    explicit operator bool() const { return connection_ != nullptr; }
    Connection& operator*() const { return *connection_; }

   private:
    Pool* pool_;
    std::unique_ptr<Connection> connection_;
  };

  void add(std::unique_ptr<Connection> connection) {
    {
      const std::scoped_lock lock(mutex_);
      idle_.push_back(std::move(connection));
    }
    given_back_.notify_one();
  }

  /// Waits at most `patience` for a connection.
  Lease lease(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    if (!given_back_.wait_for(lock, patience, [this] { return !idle_.empty(); })) return Lease(this, nullptr);
    auto connection = std::move(idle_.back());
    idle_.pop_back();
    return Lease(this, std::move(connection));
  }

 private:
  std::mutex mutex_;
  std::condition_variable given_back_;
  std::vector<std::unique_ptr<Connection>> idle_;
};

}  // namespace traceweir::store
