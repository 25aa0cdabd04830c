#include "server/spool/blob_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "server/hash/sha256.hpp"
#include "server/spool/uuid.hpp"

namespace traceweir::spool {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view in_use = ".use";
/// No reader takes as long as this: a name that is older was left by a process that died.
constexpr std::chrono::seconds use_age_max = std::chrono::hours{24};

struct Copy {
  fs::path path;
  std::uint64_t bytes;
  std::int64_t used_at, used_at_ns;
  friend bool operator<(const Copy& a, const Copy& b) {
    return std::pair(a.used_at, a.used_at_ns) < std::pair(b.used_at, b.used_at_ns);
  }
};

template <typename Visit>
void for_each(const fs::path& folder, Visit visit) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    struct stat about {};
    if (::lstat(entry->path().c_str(), &about) == 0 && S_ISREG(about.st_mode)) visit(entry->path(), about);
  }
}

}  // namespace

Result<std::unique_ptr<BlobCache>> BlobCache::open(const fs::path& data_dir, std::uint64_t bytes_max) {
  fs::path folder = data_dir / "spool" / "fetched";
  TRACEWEIR_TRY_VOID(make_folder(folder));
  const std::time_t oldest = std::time(nullptr) - use_age_max.count();
  for_each(folder, [&](const fs::path& path, const struct stat& about) {
    if (path.extension() == in_use && about.st_ctime <= oldest) ::unlink(path.c_str());
  });
  auto cache = std::make_unique<BlobCache>(std::move(folder), bytes_max);
  cache->make_room();
  return cache;
}

LocalBlob BlobCache::adopt(OwnedPath file, std::string_view sha256) {
  OwnedPath own(folder_ / (new_uuid() + std::string(in_use)));
  if (::rename(file.path().c_str(), own.path().c_str()) != 0) {
    own.release();
    return LocalBlob(std::move(file));
  }
  file.release();
  ::utimensat(AT_FDCWD, own.path().c_str(), nullptr, 0);
  // One that is there already is as good; one that cannot be made is fetched again when it is wanted.
  static_cast<void>(::link(own.path().c_str(), (folder_ / sha256).c_str()));
  const std::lock_guard lock(mutex_);
  make_room();
  return LocalBlob(std::move(own));
}

std::optional<LocalBlob> BlobCache::find(std::string_view sha256) {
  const fs::path copy = folder_ / sha256;
  OwnedPath own(folder_ / (new_uuid() + std::string(in_use)));
  if (::link(copy.c_str(), own.path().c_str()) != 0) {
    own.release();
    return std::nullopt;
  }
  ::utimensat(AT_FDCWD, own.path().c_str(), nullptr, 0);
  return LocalBlob(std::move(own));
}

void BlobCache::drop_if(const std::function<bool(std::string_view)>& may_go) {
  for_each(folder_, [&](const fs::path& path, const struct stat&) {
    const std::string name = path.filename();
    if (hash::is_sha256(name) && may_go(name)) ::unlink(path.c_str());
  });
}

/// Oldest use first.
void BlobCache::make_room() {
  std::vector<Copy> copies;
  std::uint64_t sum = 0;
  for_each(folder_, [&](const fs::path& path, const struct stat& about) {
    if (!hash::is_sha256(path.filename().native())) return;
    copies.push_back({path, static_cast<std::uint64_t>(about.st_size), about.st_mtim.tv_sec, about.st_mtim.tv_nsec});
    sum += copies.back().bytes;
  });
  std::sort(copies.begin(), copies.end());
  for (const Copy& copy : copies) {
    if (sum <= bytes_max_) return;
    if (::unlink(copy.path.c_str()) == 0) sum -= copy.bytes;
  }
}

}  // namespace traceweir::spool
