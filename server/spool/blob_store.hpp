// For: kept uploads, addressed by their content: `data_dir/blobs/ab/<sha256>`. Equal uploads share one file.
// Not for: who refers to a blob (store). The service keeps raw traces here until retention removes them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>

#include "analyzer/core/error.hpp"
#include "server/spool/spool.hpp"

namespace traceweir::spool {

/// Thread: share freely; every function blocks on the disk, so call them from workers.
class BlobStore {
 public:
  /// Makes the folder. `data_dir` must be the spool's (one file system: keeping is a rename).
  /// Errors: io_failed, disk_full.
  static Result<BlobStore> open(const std::filesystem::path& data_dir);

  /// Makes the upload permanent under its hash. When this returns, the blob survives a power cut. A blob that is there
  /// already is kept and the upload dropped; its age starts anew, so that a sweep cannot take it from under the caller.
  /// Errors: disk_full, io_failed.
  Result<void> keep(SpooledFile&& file) const;

  /// Where the blob lies. The one way from a hash to a path: nothing but 64 hex characters gets there.
  /// Errors: not_found (no such blob, or not a hash).
  [[nodiscard]] Result<std::filesystem::path> path_of(std::string_view sha256) const;

  /// Removes a blob; one that is not there is no error. For blobs that the caller has just kept and got no row for, and
  /// for retention; where another upload may be bringing the same bytes, use sweep().
  /// Errors: io_failed.
  [[nodiscard]] Result<void> remove(std::string_view sha256) const;

  /// Removes blobs older than `age` that nobody refers to: `is_referred_to` is asked for each. Returns how many.
  /// Errors: io_failed.
  [[nodiscard]] Result<std::size_t> sweep(const std::function<bool(std::string_view sha256)>& is_referred_to,
                                          std::chrono::seconds age = std::chrono::hours{24}) const;

  /// Units: bytes of all blobs, as files. Cost: one stat per blob.
  /// Errors: io_failed.
  [[nodiscard]] Result<std::uint64_t> bytes() const;

 private:
  explicit BlobStore(std::filesystem::path folder);
  [[nodiscard]] std::filesystem::path place_of(std::string_view sha256) const;

  std::filesystem::path folder_;
  std::unique_ptr<std::mutex> sweeping_;  ///< a sweep looks at a blob's age and removes it while nobody keeps it anew
};

}  // namespace traceweir::spool
