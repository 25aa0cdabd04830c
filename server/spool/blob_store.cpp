#include "server/spool/blob_store.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>
#include <string>
#include <system_error>
#include <utility>

#include "analyzer/core/assert.hpp"
#include "server/hash/sha256.hpp"
#include "server/spool/file.hpp"

namespace traceweir::spool {
namespace {

namespace fs = std::filesystem;

/// Calls `visit` with every blob's path. Files that are no blobs (an operator's) are left alone.
template <typename Visit>
Result<void> for_each_blob(const fs::path& folder, Visit visit) {
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (hash::is_sha256(entry->path().filename().native())) visit(entry->path());
  }
  if (error) return tl::unexpected(system_error(error.value(), "walking the blobs"));
  return {};
}

}  // namespace

BlobStore::BlobStore(fs::path folder) : folder_(std::move(folder)), sweeping_(std::make_unique<std::mutex>()) {}

Result<BlobStore> BlobStore::open(const fs::path& data_dir) {
  fs::path folder = data_dir / "blobs";
  TRACEWEIR_TRY_VOID(make_folder(folder));
  TRACEWEIR_TRY_VOID(sync_folder(data_dir));
  return BlobStore(std::move(folder));
}

fs::path BlobStore::place_of(std::string_view sha256) const {
  TRACEWEIR_ASSERT(hash::is_sha256(sha256));
  return folder_ / sha256.substr(0, 2) / sha256;
}

Result<void> BlobStore::keep(SpooledFile&& file) const {
  SpooledFile kept = std::move(file);  // whatever happens, the caller has no .part any more
  const fs::path place = place_of(kept.sha256());
  TRACEWEIR_TRY_VOID(make_folder(place.parent_path()));
  TRACEWEIR_TRY_VOID(sync_folder(folder_));
  {
    // A rename over an equal blob changes nothing but its age, and needs no look whether there is one.
    const std::lock_guard lock(*sweeping_);
    if (::utimensat(AT_FDCWD, kept.path().c_str(), nullptr, 0) != 0 ||
        ::rename(kept.path().c_str(), place.c_str()) != 0)
      return tl::unexpected(system_error(errno, "keeping the upload"));
    kept.file_.release();
  }
  return sync_folder(place.parent_path());
}

Result<fs::path> BlobStore::path_of(std::string_view sha256) const {
  if (!hash::is_sha256(sha256)) return fail(ErrorCode::not_found, "not a SHA-256: 64 characters of lower-case hex");
  fs::path place = place_of(sha256);
  std::error_code error;
  if (!fs::is_regular_file(place, error)) return fail(ErrorCode::not_found, "the file is no longer kept");
  return place;
}

Result<void> BlobStore::remove(std::string_view sha256) const {
  if (!hash::is_sha256(sha256)) return {};
  const fs::path place = place_of(sha256);
  if (::unlink(place.c_str()) == 0) return sync_folder(place.parent_path());
  if (errno == ENOENT) return {};
  return tl::unexpected(system_error(errno, "removing a blob"));
}

Result<std::size_t> BlobStore::sweep(const std::function<bool(std::string_view)>& is_referred_to,
                                     std::chrono::seconds age) const {
  std::size_t removed = 0;
  const auto visit = [&](const fs::path& path) {
    if (is_referred_to(path.filename().native())) return;
    // Asked first, aged second: an upload that came back in between has made its blob young under this lock.
    const std::lock_guard lock(*sweeping_);
    struct stat about {};
    const std::time_t oldest = std::time(nullptr) - age.count();
    if (::lstat(path.c_str(), &about) == 0 && about.st_mtime <= oldest && ::unlink(path.c_str()) == 0) ++removed;
  };
  TRACEWEIR_TRY_VOID(for_each_blob(folder_, visit));
  return removed;
}

Result<std::uint64_t> BlobStore::bytes() const {
  std::uint64_t sum = 0;
  const auto visit = [&](const fs::path& path) {
    std::error_code error;
    const std::uint64_t bytes = fs::file_size(path, error);
    if (!error) sum += bytes;  // else it was removed meanwhile
  };
  TRACEWEIR_TRY_VOID(for_each_blob(folder_, visit));
  return sum;
}

}  // namespace traceweir::spool
