// For: which processes of a shared data folder live: each holds the lock of a file with its name, which the kernel lets
// go of with it. So what a killed one held is free at the next start, and not only when its leases end. Not for:
// processes that share no folder, or a file system without locks: there the leases are all there is.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "analyzer/core/error.hpp"
#include "server/app/config.hpp"
#include "server/spool/file.hpp"
#include "server/store/store.hpp"

namespace traceweir::app {

/// This process, for others to see as long as it lives.
class Presence {
 public:
  /// What no other process calls itself.
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  friend Result<Presence> appear(const Config& config, store::Store& store);
  explicit Presence(std::string name) : name_(std::move(name)) {}

  std::string name_;
  std::optional<spool::OwnedPath> path_;  ///< none where the store is for one process
  spool::OwnedFile file_;
};

/// Shows this process to the others, and ends the leases of those that do not live any more. Errors: io_failed,
/// disk_full, and what the store says.
Result<Presence> appear(const Config& config, store::Store& store);

}  // namespace traceweir::app
