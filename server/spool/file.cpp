#include "server/spool/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>
#include <string>
#include <system_error>

namespace traceweir::spool {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t copied_at_once = std::size_t{64} << 10;

}  // namespace

OwnedFile& OwnedFile::operator=(OwnedFile&& other) noexcept {
  if (this != &other) {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = std::exchange(other.descriptor_, -1);
  }
  return *this;
}

OwnedFile::~OwnedFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

OwnedPath& OwnedPath::operator=(OwnedPath&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

OwnedPath::~OwnedPath() {
  // A file that cannot be removed is left to the sweep.
  if (!path_.empty()) ::unlink(path_.c_str());
}

Error system_error(int number, std::string_view doing) {
  const bool full = number == ENOSPC || number == EDQUOT;
  return {full ? ErrorCode::disk_full : ErrorCode::io_failed,
          std::string(doing) + ": " + std::generic_category().message(number)};
}

Result<void> write_all(int descriptor, std::span<const std::byte> bytes, std::string_view doing) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return tl::unexpected(system_error(errno, doing));
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> copy_durably(const fs::path& from, const fs::path& to) {
  constexpr std::string_view doing = "copying to another disk";
  const OwnedFile in(::open(from.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (in.get() < 0) return tl::unexpected(system_error(errno, doing));
  const OwnedFile out(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (out.get() < 0) return tl::unexpected(system_error(errno, doing));
  std::array<std::byte, copied_at_once> piece;
  for (;;) {
    const ssize_t count = ::read(in.get(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return tl::unexpected(system_error(errno, doing));
    if (count == 0) break;
    TRACEWEIR_TRY_VOID(write_all(out.get(), std::span(piece).first(static_cast<std::size_t>(count)), doing));
  }
  if (::fsync(out.get()) != 0) return tl::unexpected(system_error(errno, doing));
  return {};
}

Result<std::size_t> remove_parts(const fs::path& folder, std::chrono::seconds age) {
  const std::time_t oldest = std::time(nullptr) - age.count();
  std::size_t removed = 0;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const fs::path& path = entry->path();
    struct stat about {};
    if (path.extension() != part_ending || ::lstat(path.c_str(), &about) != 0) continue;
    if (S_ISREG(about.st_mode) && about.st_mtime <= oldest && ::unlink(path.c_str()) == 0) ++removed;
  }
  if (error) return tl::unexpected(system_error(error.value(), "removing halves of uploads"));
  return removed;
}

Result<void> make_folder(const std::filesystem::path& folder) {
  if (folder.empty() || ::mkdir(folder.c_str(), 0700) == 0) return {};
  if (errno == ENOENT) {
    TRACEWEIR_TRY_VOID(make_folder(folder.parent_path()));
    if (::mkdir(folder.c_str(), 0700) == 0) return {};
  }
  struct stat about {};
  const int number = errno;
  if (number == EEXIST && ::stat(folder.c_str(), &about) == 0 && S_ISDIR(about.st_mode)) return {};
  return tl::unexpected(system_error(number == EEXIST ? ENOTDIR : number, "making the folder " + folder.string()));
}

Result<void> sync_folder(const std::filesystem::path& folder) {
  const OwnedFile opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.get() < 0 || ::fsync(opened.get()) != 0) return tl::unexpected(system_error(errno, "syncing a folder"));
  return {};
}

}  // namespace traceweir::spool
