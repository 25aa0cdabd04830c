// For: a bell (jobs.hpp) by LISTEN and NOTIFY, on a connection of its own. Not for: anything that has to arrive: a
// pooler in transaction mode, or a connection that breaks, loses what is rung.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "server/store/jobs.hpp"

namespace traceweir::store {

/// Thread: safe from any thread.
class PostgresBell final : public Bell {
 public:
  /// `on_ring` is called on this bell's thread when another one on the database rings.
  PostgresBell(std::string address, std::function<void()> on_ring);
  ~PostgresBell() override;
  PostgresBell(const PostgresBell&) = delete;
  PostgresBell& operator=(const PostgresBell&) = delete;

  void ring() override;

 private:
  void work();
  void listen();
  void wake() const;
  void rest();

  std::string address_, name_;
  std::function<void()> on_ring_;
  int wakes_;  // can be read when there is something to do
  std::atomic<bool> rung_{false}, ended_{false};
  std::thread thread_;
};

}  // namespace traceweir::store
