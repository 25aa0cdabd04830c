// For: the jobs that this process holds: their claims are renewed while they are analysed, and given back when they
// cannot be. Not for: taking or doing jobs (run_queue.hpp).
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "analyzer/core/error.hpp"
#include "server/store/store.hpp"

namespace traceweir::pipeline {

/// Thread: share freely.
class Claims {
 public:
  /// `process`: what no other process on the store calls itself.
  Claims(store::Store& store, std::string process, std::chrono::milliseconds lease);

  /// One more claim to ask for. From now on it is renewed, as soon as it is there.
  store::Claim next();
  /// Nothing was claimed, or the job is done. Whether it was still among ours; no: look() has told that it was lost.
  bool drop(const std::string& holder);
  /// The job goes back to the queue: now, or where the store cannot be reached, as soon as it can.
  void release(store::Release release);
  /// Gives back what could not be given back before, and renews what is due. To be called often. Returns the claims
  /// that turned out to be lost. Errors: what the store says.
  Result<std::vector<std::string>> look();
  /// How often look() has something to renew.
  [[nodiscard]] std::chrono::milliseconds beat() const { return lease_ / 4; }

 private:
  Result<void> give_back();

  store::Store& store_;
  std::string process_;
  std::chrono::milliseconds lease_;
  std::mutex mutex_;
  std::int64_t number_ = 0;
  std::set<std::string> asked_;  ///< may not be there yet
  std::set<std::string> held_;
  std::vector<store::Release> to_release_;
  std::chrono::steady_clock::time_point renewed_ = std::chrono::steady_clock::now();
};

}  // namespace traceweir::pipeline
