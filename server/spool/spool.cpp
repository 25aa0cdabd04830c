#include "server/spool/spool.hpp"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "server/spool/room.hpp"
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

Result<void> judge(std::uint64_t free_bytes, std::uint64_t wanted, const SpoolLimits& limits) {
  return judge_room({"the data directory", free_bytes}, wanted, limits.disk_headroom_bytes);
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
    TRACEWEIR_TRY_VOID(judge(std::uint64_t{about.f_bavail} * about.f_frsize, bytes.size(), limits_));
    checked_at_ = bytes_ + bytes.size();
  }
  TRACEWEIR_TRY_VOID(write_all(file_.get(), bytes, "writing the upload"));
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
  TRACEWEIR_TRY(free, free_bytes());
  TRACEWEIR_TRY_VOID(judge(free, announced, limits_));

  const fs::path path = incoming_ / (new_uuid() + std::string(part_ending));
  OwnedFile file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file.get() < 0) return tl::unexpected(system_error(errno, "making a file for the upload"));
  return IncomingFile(OwnedPath(path), std::move(file), limits_);
}

Result<void> Spool::check_headroom() const {
  TRACEWEIR_TRY(free, free_bytes());
  return judge(free, 0, limits_);
}

Result<std::uint64_t> Spool::free_bytes() const { return free_bytes_of(incoming_); }

Result<std::size_t> Spool::sweep(std::chrono::seconds age) const { return remove_parts(incoming_, age); }

}  // namespace traceweir::spool
