// For: a place of blobs that carries the name of the store whose runs refer to them. Blobs of a store that is not ours,
// or a folder that is not mounted, are not taken for ours: nothing is kept there, missed there or removed there.
// Not for: the places themselves (directory_blob_store.hpp, server/s3).
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "server/spool/blob_store.hpp"

namespace traceweir::spool {

/// The store that refers to blobs.
struct BlobOwner {
  std::string id;
  std::function<Result<std::string>()> newest_blob;  ///< SHA-256 of one that has to be there; empty: it refers to none
};

/// A place without a name is the owner's when it has the owner's newest blob, or the owner has none. It gets its name
/// with the first blob that is kept. Errors: store_unavailable of every verb, besides those of the place, while the
/// place is not the owner's.
class OwnedBlobStore final : public BlobStore {
 public:
  OwnedBlobStore(std::unique_ptr<BlobStore> place, BlobOwner owner)
      : place_(std::move(place)), owner_(std::move(owner)) {}

  Result<void> ready() override;
  Result<void> keep(SpooledFile&& file) override;
  Result<LocalBlob> fetch(std::string_view sha256) override;
  Result<void> remove(std::string_view sha256, const IsReferredTo& is_referred_to, std::chrono::seconds age) override;
  Result<std::size_t> sweep(const IsReferredTo& is_referred_to, std::chrono::seconds age) override;
  Result<std::string> owner() override { return place_->owner(); }
  Result<void> set_owner(const std::string& id) override { return place_->set_owner(id); }
  [[nodiscard]] std::optional<std::filesystem::path> own_disk() const override { return place_->own_disk(); }
  void stop() override { place_->stop(); }

 private:
  Result<void> check();
  Result<void> check_newest();

  std::unique_ptr<BlobStore> place_;
  BlobOwner owner_;
  std::atomic<std::int64_t> seen_at_{0};  ///< by the steady clock, ns; 0: never
  std::atomic<bool> named_{false};        ///< when it was looked at
};

}  // namespace traceweir::spool
