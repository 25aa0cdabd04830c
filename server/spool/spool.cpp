#include "server/spool/spool.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <string>
#include <system_error>
#include <utility>

#include "server/spool/uuid.hpp"

namespace traceweir::spool {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t headroom_check_bytes = std::uint64_t{1} << 20;

tl::unexpected<Error> too_large(std::uint64_t bytes, std::uint64_t bytes_max) {
  return fail(ErrorCode::upload_too_large, "the upload has " + std::to_string(bytes) +
                                               " bytes or more; the limit upload_bytes_max is " +
                                               std::to_string(bytes_max));
}

std::uint64_t free_bytes_of(const struct statvfs& about) { return std::uint64_t{about.f_bavail} * about.f_frsize; }

/// Whether `wanted` more bytes leave the headroom free, by what the file system says.
Result<void> judge_room(const struct statvfs& about, std::uint64_t wanted, const SpoolLimits& limits) {
  const std::uint64_t free = free_bytes_of(about);
  if (free >= limits.disk_headroom_bytes && free - limits.disk_headroom_bytes >= wanted) return {};
  return fail(ErrorCode::disk_full, "the disk of the data directory has " + std::to_string(free) +
                                        " bytes left; disk_headroom_bytes is " +
                                        std::to_string(limits.disk_headroom_bytes));
}

Result<void> write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return tl::unexpected(system_error(errno, "writing the upload"));
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace

SpooledFile::SpooledFile(OwnedPath file, std::uint64_t bytes, std::string sha256)
    : file_(std::move(file)), bytes_(bytes), sha256_(std::move(sha256)) {}

IncomingFile::IncomingFile(OwnedPath path, OwnedFile file, SpoolLimits limits)
    : path_(std::move(path)), file_(std::move(file)), limits_(limits) {}

Result<void> IncomingFile::write(std::span<const std::byte> bytes) {
  if (bytes.size() > limits_.upload_bytes_max - bytes_)
    return too_large(bytes_ + bytes.size(), limits_.upload_bytes_max);
  if (bytes_ + bytes.size() - checked_at_ >= headroom_check_bytes) {
    struct statvfs about {};
    if (::fstatvfs(file_.get(), &about) != 0) return tl::unexpected(system_error(errno, "asking for free space"));
    TRACEWEIR_TRY_VOID(judge_room(about, bytes.size(), limits_));
    checked_at_ = bytes_ + bytes.size();
  }
  TRACEWEIR_TRY_VOID(write_all(file_.get(), bytes));
  hash_.update(bytes);
  bytes_ += bytes.size();
  return {};
}

Result<SpooledFile> IncomingFile::finish() && {
  if (bytes_ == 0) return fail(ErrorCode::empty_upload, "the upload has no bytes");
  if (::fsync(file_.get()) != 0) return tl::unexpected(system_error(errno, "syncing the upload"));
  file_ = OwnedFile();
  return SpooledFile(std::move(path_), bytes_, hash_.hex());
}

Spool::Spool(fs::path incoming, SpoolLimits limits) : incoming_(std::move(incoming)), limits_(limits) {}

Result<Spool> Spool::open(const fs::path& data_dir, SpoolLimits limits) {
  fs::path incoming = data_dir / "spool" / "incoming";
  TRACEWEIR_TRY_VOID(make_folder(incoming));
  return Spool(std::move(incoming), limits);
}

Result<IncomingFile> Spool::create(std::optional<std::uint64_t> announced_bytes) const {
  const std::uint64_t announced = announced_bytes.value_or(0);
  if (announced > limits_.upload_bytes_max) return too_large(announced, limits_.upload_bytes_max);
  struct statvfs about {};
  if (::statvfs(incoming_.c_str(), &about) != 0) return tl::unexpected(system_error(errno, "asking for free space"));
  TRACEWEIR_TRY_VOID(judge_room(about, announced, limits_));

  const fs::path path = incoming_ / (new_uuid() + ".part");
  OwnedFile file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file.get() < 0) return tl::unexpected(system_error(errno, "making a file for the upload"));
  return IncomingFile(OwnedPath(path), std::move(file), limits_);
}

Result<void> Spool::check_headroom() const {
  struct statvfs about {};
  if (::statvfs(incoming_.c_str(), &about) != 0) return tl::unexpected(system_error(errno, "asking for free space"));
  return judge_room(about, 0, limits_);
}

Result<std::uint64_t> Spool::free_bytes() const {
  struct statvfs about {};
  if (::statvfs(incoming_.c_str(), &about) != 0) return tl::unexpected(system_error(errno, "asking for free space"));
  return free_bytes_of(about);
}

Result<std::size_t> Spool::sweep(std::chrono::seconds age) const {
  const std::time_t oldest = std::time(nullptr) - age.count();
  std::size_t removed = 0;
  std::error_code error;
  for (fs::directory_iterator entry(incoming_, error), end; !error && entry != end; entry.increment(error)) {
    const fs::path& path = entry->path();
    struct stat about {};
    if (path.extension() != ".part" || ::lstat(path.c_str(), &about) != 0) continue;
    if (S_ISREG(about.st_mode) && about.st_mtime <= oldest && ::unlink(path.c_str()) == 0) ++removed;
  }
  if (error) return tl::unexpected(system_error(error.value(), "sweeping the spool"));
  return removed;
}

}  // namespace traceweir::spool
