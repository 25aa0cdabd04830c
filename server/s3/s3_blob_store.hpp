// For: blobs in an S3-compatible store: `PREFIX/ab/<sha256>/<uuid>`. Any number of processes may share it.
// Not for: what every place promises (spool/blob_store.hpp), single requests (client.hpp).
//
// Each keep() makes an object of its own, so that whoever removes an older one of the same content cannot take it: a
// store elsewhere has no lock that we could hold (docs/decisions/044). All objects below a hash have the same bytes,
// and any of them is the blob; a sweep leaves the newest of those that are referred to.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"
#include "server/s3/client.hpp"
#include "server/s3/readiness.hpp"
#include "server/spool/blob_cache.hpp"
#include "server/spool/blob_store.hpp"
#include "server/spool/spool.hpp"

namespace traceweir::s3 {

/// What each verb promises: spool/blob_store.hpp. keep() returns once the store has acknowledged the whole object. What
/// comes back is compared with its hash before anybody reads it.
class S3BlobStore final : public spool::BlobStore {
 public:
  /// Does not speak to the store yet, so that a service starts while it is away. Copies lie below `data_dir` and leave
  /// `disk_headroom_bytes` free.
  /// Errors: bad_config (credentials), io_failed, disk_full.
  static Result<std::unique_ptr<S3BlobStore>> open(Settings settings, const std::filesystem::path& data_dir,
                                                   std::uint64_t disk_headroom_bytes);

  S3BlobStore(Settings settings, spool::Spool arriving, std::unique_ptr<spool::BlobCache> cache);

  Result<void> ready() override { return readiness_.now(); }
  Result<void> keep(spool::SpooledFile&& file) override;
  Result<spool::LocalBlob> fetch(std::string_view sha256) override;
  Result<void> remove(std::string_view sha256, const IsReferredTo& is_referred_to, std::chrono::seconds age) override;
  Result<std::size_t> sweep(const IsReferredTo& is_referred_to, std::chrono::seconds age) override;
  Result<std::string> owner() override;
  Result<void> set_owner(const std::string& id) override { return client_.put(root() + ".store", id); }
  void stop() override { client_.stop(); }

 private:
  struct Object;
  struct Removal;
  [[nodiscard]] std::string folder_of(std::string_view sha256) const;
  [[nodiscard]] std::string root() const;
  static bool is_younger(const Object& a, const Object& b);
  [[nodiscard]] std::optional<Object> object_of(const ListedObject& listed, Seconds now) const;
  Result<std::vector<Object>> objects_of(std::string_view sha256);
  Result<void> put(const std::string& key, const spool::SpooledFile& file);
  Result<void> put_parts(const std::string& key, const std::string& upload, const spool::SpooledFile& file);
  Result<spool::SpooledFile> download(const Object& object);
  Result<std::size_t> remove_of(const std::vector<Object>& objects, const Removal& removal);

  Client client_;
  Readiness readiness_{[this] { return client_.look(); }};
  spool::Spool arriving_;
  std::unique_ptr<spool::BlobCache> cache_;
};

}  // namespace traceweir::s3
