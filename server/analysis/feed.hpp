// For: an upload that is still arriving, as the input of a child: what lies in its file by now is handed on through a
// pipe at the child's pace. The sender is never held up, and nothing is kept in memory.
// Not for: receiving uploads (server/api).
#pragma once

#include <poll.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "analyzer/core/error.hpp"
#include "server/analysis/spawn.hpp"

namespace traceweir::analysis {

/// What the receiver of an upload and the watcher of its child share.
/// Thread: the receiver's functions from one thread, the watcher's from another.
class Feed {
 public:
  /// `file`: where the upload is being written, from its first byte on. It may be renamed meanwhile.
  /// Errors: io_failed.
  static Result<std::shared_ptr<Feed>> open(const std::filesystem::path& file);

  /// For the receiver: so many bytes are in the file. None of these blocks.
  void grew_to(std::uint64_t bytes);
  /// All of them are.
  void complete();
  /// Nobody wants the report any more: its child is to end.
  void abandon();

  /// For the watcher.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] bool is_complete() const { return complete_; }
  [[nodiscard]] bool is_abandoned() const { return abandoned_; }
  [[nodiscard]] int file() const { return file_.get(); }
  /// Readable when something has changed; `hear` takes note.
  [[nodiscard]] int changed() const { return changed_.get(); }
  void hear();

 private:
  Feed(Descriptor file, Descriptor changed);
  void tell();

  Descriptor file_;
  Descriptor changed_;
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<bool> complete_{false};
  std::atomic<bool> abandoned_{false};
};

/// The watcher's end: from the file into the child's pipe.
/// Thread: one, whose SIGPIPE it blocks: a child that wants no more is no reason to die.
class Pump {
 public:
  /// `pipe`: the end to write to. It is closed behind the last byte.
  Pump(Feed& feed, Descriptor pipe);

  /// What to poll for: that more has come, and that the pipe has room for what waits.
  [[nodiscard]] pollfd wish_for_more() const { return {feed_->changed(), POLLIN, 0}; }
  [[nodiscard]] pollfd wish_for_room() const;

  [[nodiscard]] bool is_complete() const { return feed_->is_complete(); }
  [[nodiscard]] bool is_abandoned() const { return feed_->is_abandoned(); }

  /// Hands on what there is and fits. A file that cannot be read abandons the feed: half an upload would look like a
  /// trace that was cut.
  void push();

 private:
  [[nodiscard]] bool refill();

  Feed* feed_;
  Descriptor pipe_;
  std::vector<char> piece_;
  std::span<const char> waiting_;  ///< of piece_, read and not yet written
  std::uint64_t taken_ = 0;        ///< bytes read from the file
};

}  // namespace traceweir::analysis
