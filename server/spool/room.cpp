#include "server/spool/room.hpp"

#include <sys/statvfs.h>

#include <cerrno>
#include <string>

#include "server/spool/file.hpp"

namespace traceweir::spool {

Result<std::uint64_t> free_bytes_of(const std::filesystem::path& folder) {
  struct statvfs about {};
  if (::statvfs(folder.c_str(), &about) != 0) return tl::unexpected(system_error(errno, "asking for free space"));
  return std::uint64_t{about.f_bavail} * about.f_frsize;
}

Result<void> judge_room(const Room& room, std::uint64_t wanted, std::uint64_t headroom_bytes) {
  if (room.free_bytes >= headroom_bytes && room.free_bytes - headroom_bytes >= wanted) return {};
  return fail(ErrorCode::disk_full, "the disk of " + std::string(room.whose) + " has " +
                                        std::to_string(room.free_bytes) + " bytes left; disk_headroom_bytes is " +
                                        std::to_string(headroom_bytes));
}

Result<void> check_room(const BlobStore& blobs, std::uint64_t wanted, std::uint64_t headroom_bytes) {
  const auto disk = blobs.own_disk();
  if (!disk) return {};
  TRACEWEIR_TRY(free, free_bytes_of(*disk));
  return judge_room({"the traces", free}, wanted, headroom_bytes);
}

}  // namespace traceweir::spool
