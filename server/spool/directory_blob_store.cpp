#include "server/spool/directory_blob_store.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "analyzer/core/assert.hpp"
#include "server/hash/sha256.hpp"
#include "server/spool/uuid.hpp"

namespace traceweir::spool {
namespace {

namespace fs = std::filesystem;

constexpr const char* owner_file = ".store";
constexpr std::size_t owner_letters_max = 64;
/// A copy that was not written to for so long is nobody's.
constexpr std::chrono::hours part_age{1};

/// Of the file system on which it lies, or will be made. 0: not to be asked.
dev_t device_of(const fs::path& folder) {
  struct stat about {};
  return ::stat(folder.c_str(), &about) == 0 || ::stat(folder.parent_path().c_str(), &about) == 0 ? about.st_dev : 0;
}

/// `ab`: what keep() makes for hashes that begin so. Nothing else below the folder is ours (`lost+found`, snapshots).
bool is_name_of_folder(std::string_view name) {
  return name.size() == 2 && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// What of a folder has such a name. Errors: io_failed, naming the folder below `data_dir`.
Result<std::vector<fs::path>> paths_in(const fs::path& folder, bool (*has_name)(std::string_view)) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (has_name(entry->path().filename().native())) paths.push_back(entry->path());
  if (error)
    return tl::unexpected(system_error(error.value(), "looking at the blobs in " + folder.filename().string()));
  return paths;
}

}  // namespace

Result<std::unique_ptr<DirectoryBlobStore>> DirectoryBlobStore::open(const fs::path& data_dir) {
  fs::path folder = data_dir / "blobs";
  TRACEWEIR_TRY_VOID(make_folder(folder));
  TRACEWEIR_TRY_VOID(sync_folder(data_dir));
  const bool is_apart = device_of(folder) != device_of(data_dir / "spool");
  return std::make_unique<DirectoryBlobStore>(std::move(folder), is_apart ? Disk::its_own : Disk::of_the_spool);
}

fs::path DirectoryBlobStore::place_of(std::string_view sha256) const {
  TRACEWEIR_ASSERT(hash::is_sha256(sha256));
  return folder_ / sha256.substr(0, 2) / sha256;
}

/// Held while the file that it returns is open. Each call opens its own, so that threads exclude each other, too.
Result<OwnedFile> DirectoryBlobStore::lock(int how) const {
  OwnedFile file(::open((folder_ / ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.get() < 0) return tl::unexpected(system_error(errno, "opening the lock of the blobs"));
  while (::flock(file.get(), how) != 0)
    if (errno != EINTR) return tl::unexpected(system_error(errno, "locking the blobs"));
  return file;
}

Result<void> DirectoryBlobStore::keep(SpooledFile&& file) {
  const std::string sha256 = file.sha256();
  OwnedPath upload = std::move(file).take_file();
  const fs::path place = place_of(sha256);
  TRACEWEIR_TRY_VOID(make_folder(place.parent_path()));
  TRACEWEIR_TRY_VOID(sync_folder(folder_));
  TRACEWEIR_TRY(is_there, move_to(place, upload));
  if (!is_there) TRACEWEIR_TRY_VOID(copy_to(place, upload));
  return sync_folder(place.parent_path());
}

/// Makes the file the blob. Whether it could: none goes from one file system to another.
Result<bool> DirectoryBlobStore::move_to(const fs::path& place, OwnedPath& file) const {
  // A rename over an equal blob changes nothing but its age, and needs no look whether there is one.
  TRACEWEIR_TRY(locked, lock(LOCK_SH));
  static_cast<void>(locked);
  if (::utimensat(AT_FDCWD, file.path().c_str(), nullptr, 0) != 0 ||
      ::rename(file.path().c_str(), place.c_str()) != 0) {
    if (errno == EXDEV) return false;
    return tl::unexpected(system_error(errno, "keeping the upload"));
  }
  file.release();
  return true;
}

/// The same from another file system. What is copied has no blob's name until it is whole and durable.
Result<void> DirectoryBlobStore::copy_to(const fs::path& place, const OwnedPath& upload) const {
  OwnedPath copy(folder_ / (new_uuid() + std::string(part_ending)));
  TRACEWEIR_TRY_VOID(copy_durably(upload.path(), copy.path()));
  TRACEWEIR_TRY(is_there, move_to(place, copy));
  return is_there ? Result<void>{} : tl::unexpected(system_error(EXDEV, "keeping the upload"));
}

Result<LocalBlob> DirectoryBlobStore::fetch(std::string_view sha256) {
  if (!hash::is_sha256(sha256)) return fail(ErrorCode::not_found, "not a SHA-256: 64 characters of lower-case hex");
  fs::path place = place_of(sha256);
  std::error_code error;
  if (!fs::is_regular_file(place, error)) return fail(ErrorCode::not_found, "the file is no longer kept");
  return LocalBlob(std::move(place));
}

/// Whether it went. The caller asked who refers to it before this.
Result<bool> DirectoryBlobStore::remove_old(const fs::path& place, std::chrono::seconds age) const {
  TRACEWEIR_TRY(locked, lock(LOCK_EX));
  static_cast<void>(locked);
  struct stat about {};
  const std::time_t oldest = std::time(nullptr) - age.count();
  if (::lstat(place.c_str(), &about) != 0 || about.st_mtime > oldest) return false;
  if (::unlink(place.c_str()) != 0) return tl::unexpected(system_error(errno, "removing a blob"));
  return true;
}

Result<void> DirectoryBlobStore::remove(std::string_view sha256, const IsReferredTo& is_referred_to,
                                        std::chrono::seconds age) {
  if (!hash::is_sha256(sha256) || is_referred_to(sha256)) return {};
  const fs::path place = place_of(sha256);
  TRACEWEIR_TRY(gone, remove_old(place, age));
  return gone ? sync_folder(place.parent_path()) : Result<void>{};
}

Result<std::size_t> DirectoryBlobStore::sweep(const IsReferredTo& is_referred_to, std::chrono::seconds age) {
  TRACEWEIR_TRY_VOID(remove_parts(folder_, part_age));
  TRACEWEIR_TRY(folders, paths_in(folder_, is_name_of_folder));
  std::size_t removed = 0;
  std::optional<Error> failed;
  for (const fs::path& folder : folders)
    if (const auto swept = sweep_folder(folder, {is_referred_to, age}, removed); !swept && !failed)
      failed = swept.error();
  if (!failed) return removed;
  return fail(failed->code, failed->message + "; all others were looked at, and " + std::to_string(removed) + " went");
}

/// The first failure is told when all that could be looked at was.
Result<void> DirectoryBlobStore::sweep_folder(const fs::path& folder, const Removal& removal,
                                              std::size_t& removed) const {
  TRACEWEIR_TRY(blobs, paths_in(folder, hash::is_sha256));
  Result<void> done;
  for (const fs::path& place : blobs) {
    if (removal.is_referred_to(place.filename().native())) continue;
    const auto gone = remove_old(place, removal.age);
    removed += std::size_t{gone.value_or(false)};
    if (!gone && done) done = tl::unexpected(gone.error());
  }
  return done;
}

Result<std::string> DirectoryBlobStore::owner() {
  std::ifstream in(folder_ / owner_file);
  std::string id;
  if (!in) return id;
  std::getline(in, id);
  if (in.bad()) return fail(ErrorCode::io_failed, "the name of the store of the blobs cannot be read");
  return id.substr(0, owner_letters_max);
}

/// Whole or not at all: a name that was cut by the end of the power would be another store's.
Result<void> DirectoryBlobStore::set_owner(const std::string& id) {
  OwnedPath made(folder_ / (std::string(owner_file) + '.' + new_uuid()));
  const std::string line = id + '\n';
  OwnedFile file(::open(made.path().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file.get() < 0 || ::write(file.get(), line.data(), line.size()) != std::ssize(line) || ::fsync(file.get()) != 0 ||
      ::rename(made.path().c_str(), (folder_ / owner_file).c_str()) != 0)
    return tl::unexpected(system_error(errno, "naming the store of the blobs"));
  made.release();
  return sync_folder(folder_);
}

}  // namespace traceweir::spool
