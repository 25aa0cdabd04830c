#include "server/spool/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace traceweir::spool {

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
