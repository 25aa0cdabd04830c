// For: blobs in a folder: `data_dir/blobs/ab/<sha256>`. Equal uploads share one file. Several processes may share it.
// Not for: what every place promises (blob_store.hpp).
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "analyzer/core/error.hpp"
#include "server/spool/blob_store.hpp"
#include "server/spool/file.hpp"

namespace traceweir::spool {

/// What each verb promises: blob_store.hpp. A blob is young by its file's time, and that is renewed and looked at under
/// a lock on a file (`blobs/.lock`), which holds among processes as it does among threads. `blobs/.store`: whose they
/// are.
class DirectoryBlobStore final : public BlobStore {
 public:
  /// Makes the folder. `data_dir` is the spool's: on one file system with it keeping is a rename, else a copy.
  /// Errors: io_failed, disk_full.
  static Result<std::unique_ptr<DirectoryBlobStore>> open(const std::filesystem::path& data_dir);

  /// Where its bytes lie.
  enum class Disk { of_the_spool, its_own };
  DirectoryBlobStore(std::filesystem::path folder, Disk disk) : folder_(std::move(folder)), disk_(disk) {}

  Result<void> ready() override { return {}; }
  Result<void> keep(SpooledFile&& file) override;
  Result<LocalBlob> fetch(std::string_view sha256) override;
  Result<void> remove(std::string_view sha256, const IsReferredTo& is_referred_to, std::chrono::seconds age) override;
  Result<std::size_t> sweep(const IsReferredTo& is_referred_to, std::chrono::seconds age) override;
  Result<std::string> owner() override;
  Result<void> set_owner(const std::string& id) override;
  [[nodiscard]] std::optional<std::filesystem::path> own_disk() const override {
    return disk_ == Disk::its_own ? std::optional(folder_) : std::nullopt;
  }

 private:
  [[nodiscard]] std::filesystem::path place_of(std::string_view sha256) const;
  [[nodiscard]] Result<OwnedFile> lock(int how) const;
  Result<bool> move_to(const std::filesystem::path& place, OwnedPath& file) const;
  [[nodiscard]] Result<void> copy_to(const std::filesystem::path& place, const OwnedPath& upload) const;
  [[nodiscard]] Result<bool> remove_old(const std::filesystem::path& place, std::chrono::seconds age) const;
  /// What may go.
  struct Removal {
    const IsReferredTo& is_referred_to;
    std::chrono::seconds age;
  };
  Result<void> sweep_folder(const std::filesystem::path& folder, const Removal& removal, std::size_t& removed) const;

  std::filesystem::path folder_;
  Disk disk_;
};

}  // namespace traceweir::spool
