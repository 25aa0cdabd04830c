#include "analyzer/ingest/sqlite_vfs.hpp"

#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

#include "analyzer/core/assert.hpp"
#include "analyzer/ingest/open_file.hpp"

namespace traceweir::ingest {
namespace {

constexpr const char* vfs_name = "traceweir-descriptor";
constexpr int name_bytes_max = 32;
constexpr int sector_bytes = 4096;

/// An open file as SQLite holds it: its methods first, then what is ours.
struct OpenDescriptor {
  sqlite3_file base;
  int descriptor;
  sqlite3_int64 bytes;
};

const OpenDescriptor& ours(sqlite3_file* file) { return *reinterpret_cast<const OpenDescriptor*>(file); }

int read_at(sqlite3_file* file, void* to, int amount, sqlite3_int64 offset) {
  auto* out = static_cast<char*>(to);
  int filled = 0;
  while (filled < amount) {
    const auto wanted = static_cast<std::size_t>(amount - filled);
    const ssize_t got = ::pread(ours(file).descriptor, out + filled, wanted, offset + filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SQLITE_IOERR_READ;
    if (got == 0) break;
    filled += static_cast<int>(got);
  }
  if (filled == amount) return SQLITE_OK;
  std::fill(out + filled, out + amount, '\0');  // what SQLite asks for behind the end
  return SQLITE_IOERR_SHORT_READ;
}

/// The methods of a file. None writes; locks are granted, since nobody else writes either.
const sqlite3_io_methods file_methods = {
    .iVersion = 1,
    .xClose = [](sqlite3_file*) { return SQLITE_OK; },
    .xRead = &read_at,
    .xWrite = [](sqlite3_file*, const void*, int, sqlite3_int64) { return SQLITE_READONLY; },
    .xTruncate = [](sqlite3_file*, sqlite3_int64) { return SQLITE_READONLY; },
    .xSync = [](sqlite3_file*, int) { return SQLITE_OK; },
    .xFileSize =
        [](sqlite3_file* file, sqlite3_int64* bytes) {
          *bytes = ours(file).bytes;
          return SQLITE_OK;
        },
    .xLock = [](sqlite3_file*, int) { return SQLITE_OK; },
    .xUnlock = [](sqlite3_file*, int) { return SQLITE_OK; },
    .xCheckReservedLock =
        [](sqlite3_file*, int* held) {
          *held = 0;
          return SQLITE_OK;
        },
    .xFileControl = [](sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; },
    .xSectorSize = [](sqlite3_file*) { return sector_bytes; },
    .xDeviceCharacteristics = [](sqlite3_file*) { return SQLITE_IOCAP_IMMUTABLE; },
    .xShmMap = nullptr,
    .xShmLock = nullptr,
    .xShmBarrier = nullptr,
    .xShmUnmap = nullptr,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

/// The descriptor behind a name, or -1.
int descriptor_of(const char* name) {
  const std::string_view digits = name == nullptr ? "" : name;
  int descriptor = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), descriptor);
  return error == std::errc{} && end == digits.data() + digits.size() ? descriptor : -1;
}

/// Nothing but the database itself: no journal, no file for sorting, no second database.
int open_file(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* flags_given) {
  file->pMethods = nullptr;
  const int descriptor = descriptor_of(name);
  if ((flags & SQLITE_OPEN_MAIN_DB) == 0 || descriptor < 0) return SQLITE_CANTOPEN;
  const auto bytes = size_of(descriptor);
  if (!bytes) return SQLITE_CANTOPEN;
  auto& opened = *reinterpret_cast<OpenDescriptor*>(file);
  opened.descriptor = descriptor;
  opened.bytes = static_cast<sqlite3_int64>(*bytes);
  file->pMethods = &file_methods;
  if (flags_given != nullptr) *flags_given = SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB;
  return SQLITE_OK;
}

int full_name(sqlite3_vfs*, const char* name, int room, char* out) {
  const std::size_t length = std::strlen(name);
  if (length >= static_cast<std::size_t>(room)) return SQLITE_CANTOPEN;
  std::memcpy(out, name, length + 1);
  return SQLITE_OK;
}

sqlite3_vfs make_vfs() {
  sqlite3_vfs vfs{};
  vfs.iVersion = 1;
  vfs.szOsFile = sizeof(OpenDescriptor);
  vfs.mxPathname = name_bytes_max;
  vfs.zName = vfs_name;
  vfs.xOpen = &open_file;
  vfs.xDelete = [](sqlite3_vfs*, const char*, int) { return SQLITE_READONLY; };
  vfs.xAccess = [](sqlite3_vfs*, const char*, int, int* found) {
    *found = 0;  // no journal of any name lies beside a descriptor
    return SQLITE_OK;
  };
  vfs.xFullPathname = &full_name;
  vfs.xRandomness = [](sqlite3_vfs*, int bytes, char* out) {
    std::fill(out, out + bytes, '\0');  // names of journals and row ids need it; there are none
    return bytes;
  };
  vfs.xSleep = [](sqlite3_vfs*, int) { return 0; };
  vfs.xCurrentTime = [](sqlite3_vfs*, double* now) {
    *now = 0;
    return SQLITE_OK;
  };
  vfs.xGetLastError = [](sqlite3_vfs*, int, char*) { return 0; };
  return vfs;
}

}  // namespace

const char* descriptor_vfs() {
  static sqlite3_vfs vfs = make_vfs();
  static const int registered = sqlite3_vfs_register(&vfs, 0);
  TRACEWEIR_ASSERT(registered == SQLITE_OK);
  return vfs_name;
}

}  // namespace traceweir::ingest
