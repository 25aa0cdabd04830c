// For: copies of blobs that are kept elsewhere, on this machine, up to so many bytes: `data_dir/spool/fetched`.
// Not for: where blobs are kept (blob_store.hpp): everything here may go at any time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "analyzer/core/error.hpp"
#include "server/spool/blob_store.hpp"
#include "server/spool/file.hpp"

namespace traceweir::spool {

/// A copy that is in use has a name of its own (a hard link), so that dropping copies never takes one from its reader,
/// whichever process that is.
/// Thread: share freely; blocks on the disk.
class BlobCache {
 public:
  /// Makes the folder below `data_dir`; names that readers of an earlier life left go. `bytes_max` 0: nothing is kept.
  /// Errors: io_failed, disk_full.
  static Result<std::unique_ptr<BlobCache>> open(const std::filesystem::path& data_dir, std::uint64_t bytes_max);

  BlobCache(std::filesystem::path folder, std::uint64_t bytes_max)
      : folder_(std::move(folder)), bytes_max_(bytes_max) {}

  /// Takes a whole file, whose hash this is, and gives it back to be read; drops the longest unused copies until all
  /// fit, this one too where it is too large. Shape: the file is on the same file system as `data_dir`.
  LocalBlob adopt(OwnedPath file, std::string_view sha256);

  /// A copy to be read, used from now on; nothing where there is none.
  std::optional<LocalBlob> find(std::string_view sha256);

  /// Drops the copies of which `may_go` says so.
  void drop_if(const std::function<bool(std::string_view sha256)>& may_go);

 private:
  void make_room();

  std::filesystem::path folder_;
  std::uint64_t bytes_max_;
  std::mutex mutex_;
};

}  // namespace traceweir::spool
