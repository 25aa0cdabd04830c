// For: an upload on its way to a durable file: bounded, hashed while it is written, gone when it is dropped.
// Not for: the socket (api reads and writes here), what is in the bytes.
//
//   Spool::create ─► IncomingFile ─write…─► finish ─► SpooledFile ─► BlobStore::keep
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "analyzer/core/error.hpp"
#include "server/hash/sha256.hpp"
#include "server/spool/file.hpp"

namespace traceweir::spool {

struct SpoolLimits {
  std::uint64_t upload_bytes_max = std::uint64_t{4} << 30;
  std::uint64_t disk_headroom_bytes = std::uint64_t{256} << 20;  ///< left free for the store and the log
};

/// A whole upload on disk: synced, hashed, not yet kept. Deletes its file when it is dropped.
/// Thread: a value that moves; one owner.
class SpooledFile {
 public:
  SpooledFile(OwnedPath file, std::uint64_t bytes, std::string sha256);

  [[nodiscard]] const std::filesystem::path& path() const { return file_.path(); }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] const std::string& sha256() const { return sha256_; }

  /// Gives the file away. Use once.
  [[nodiscard]] OwnedPath take_file() && { return std::move(file_); }

 private:
  OwnedPath file_;
  std::uint64_t bytes_;
  std::string sha256_;
};

/// An upload that is being written. Deletes its file when it is dropped.
class IncomingFile {
 public:
  /// Errors: upload_too_large, disk_full, io_failed.
  /// Thread: blocks for a copy into the page cache; fine on a network thread.
  Result<void> write(std::span<const std::byte> bytes);

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_.path(); }

  /// Syncs the file to the disk. Use once.
  /// Errors: empty_upload, disk_full, io_failed.
  /// Thread: may block for seconds; call it from a worker.
  Result<SpooledFile> finish() &&;

 private:
  friend class Spool;
  IncomingFile(OwnedPath path, OwnedFile file, SpoolLimits limits);

  OwnedPath path_;
  OwnedFile file_;
  SpoolLimits limits_;
  hash::Sha256 hash_;
  std::uint64_t bytes_ = 0;
  std::uint64_t checked_at_ = 0;  ///< bytes at the last look at the disk's free space
};

/// Where uploads arrive: `data_dir/spool/incoming/<uuid>.part`, folders 0700, files 0600. Names are ours, never the
/// client's.
/// Thread: share freely.
class Spool {
 public:
  /// Makes the folders.
  /// Errors: io_failed, naming the folder.
  static Result<Spool> open(const std::filesystem::path& data_dir, SpoolLimits limits);

  /// Starts an upload. An announced size is checked before a byte is read.
  /// Errors: upload_too_large, disk_full, io_failed.
  [[nodiscard]] Result<IncomingFile> create(std::optional<std::uint64_t> announced_bytes) const;

  /// Whether there is room for uploads (for readiness).
  /// Errors: disk_full, io_failed.
  [[nodiscard]] Result<void> check_headroom() const;

  /// What the file system would still take, headroom included. Units: bytes.   Errors: io_failed.
  [[nodiscard]] Result<std::uint64_t> free_bytes() const;

  /// Removes what uploads of an earlier life left behind: `.part` files not written to for `age`. Returns how many.
  /// Errors: io_failed.
  [[nodiscard]] Result<std::size_t> sweep(std::chrono::seconds age = std::chrono::hours{1}) const;

  [[nodiscard]] const std::filesystem::path& folder() const { return incoming_; }
  [[nodiscard]] const SpoolLimits& limits() const { return limits_; }

 private:
  Spool(std::filesystem::path incoming, SpoolLimits limits);

  std::filesystem::path incoming_;
  SpoolLimits limits_;
};

}  // namespace traceweir::spool
