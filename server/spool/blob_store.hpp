// For: kept uploads, addressed by their content, wherever they are kept: one interface, one implementation per place
// (directory_blob_store.hpp, server/s3). The contract suite (tests/blobs) runs on each.
// Not for: who refers to a blob (store).
//
// No blob that somebody refers to is ever removed, however many processes keep, sweep and delete at once. What that
// leans on, here and in every implementation (docs/decisions/044):
//   1. an upload is kept first, and its row is written after that; a row is removed first, its blob after that
//   2. keep() makes the blob young, whether it was there or not
//   3. only what is not referred to *and* not young is removed, and the second is looked at last, so that an upload
//   that
//      has come in between is seen
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "analyzer/core/error.hpp"
#include "server/spool/file.hpp"
#include "server/spool/spool.hpp"

namespace traceweir::spool {

/// A blob as a file of this machine, to be read while this lives.
/// Thread: a value that moves; one owner.
class LocalBlob {
 public:
  /// It lies where it is kept.
  explicit LocalBlob(std::filesystem::path kept) : path_(std::move(kept)), copy_({}) {}
  /// A copy or a name of its own, which goes with this.
  explicit LocalBlob(OwnedPath copy) : path_(copy.path()), copy_(std::move(copy)) {}

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  OwnedPath copy_;
};

/// How long a blob without a row may be one whose row is still being written: nobody takes that long from keep() to the
/// row, and it is short enough for a deletion to be one.
inline constexpr std::chrono::seconds young_age = std::chrono::hours{1};
/// The same for sweeps, which nobody waits for.
inline constexpr std::chrono::seconds sweep_age = std::chrono::hours{24};

/// Errors: every verb may answer store_unavailable (a place elsewhere cannot be reached, or refuses us), disk_full or
///         io_failed. Further errors are named at the verb.
/// Thread: share freely; every verb blocks, so call them from workers.
class BlobStore {
 public:
  /// Asked for a blob that may go. In doubt it is referred to.
  using IsReferredTo = std::function<bool(std::string_view sha256)>;

  virtual ~BlobStore() = default;

  /// Whether blobs can be kept and fetched now. Errors: none of its own.
  virtual Result<void> ready() = 0;

  /// Makes the upload permanent under its hash: when this returns, it survives whatever the place promises to survive.
  /// A blob that is there already is kept, too, and is young again. Whatever happens, the caller has no file any more.
  /// Errors: none of its own.
  virtual Result<void> keep(SpooledFile&& file) = 0;

  /// The blob as a file. The one way from a hash to a path: nothing but 64 hex characters gets there.
  /// Errors: not_found (no such blob, or not a hash).
  virtual Result<LocalBlob> fetch(std::string_view sha256) = 0;

  /// Removes the blob, if nobody refers to it and it is older than `age`; a younger one is left to the sweep. One that
  /// is not there, or no hash, is no error. Errors: none of its own.
  virtual Result<void> remove(std::string_view sha256, const IsReferredTo& is_referred_to,
                              std::chrono::seconds age = young_age) = 0;

  /// The same with all blobs. Returns how many went. One that cannot be looked at keeps no other from going: the first
  /// such error is told at the end. Errors: none of its own.
  virtual Result<std::size_t> sweep(const IsReferredTo& is_referred_to, std::chrono::seconds age = sweep_age) = 0;

  /// The name of the store whose blobs these are (owned_blob_store.hpp); empty: none was written. Errors: none of its
  /// own.
  virtual Result<std::string> owner() = 0;
  virtual Result<void> set_owner(const std::string& id) = 0;

  /// The folder of a place on a disk of this machine that is not the spool's: its room counts besides (room.hpp).
  [[nodiscard]] virtual std::optional<std::filesystem::path> own_disk() const { return std::nullopt; }

  /// Breaks off what is waited for elsewhere, now and from now on: those verbs answer store_unavailable.
  virtual void stop() {}
};

}  // namespace traceweir::spool
