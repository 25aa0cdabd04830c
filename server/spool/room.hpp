// For: room on disks: how much there is, and whether uploads leave enough of it.
// Not for: quotas of projects (server/pipeline/keeping.hpp).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "analyzer/core/error.hpp"
#include "server/spool/blob_store.hpp"

namespace traceweir::spool {

/// A disk as it is now.
struct Room {
  std::string_view whose;        ///< for people: `the data directory`
  std::uint64_t free_bytes = 0;  ///< headroom included
};

/// What the file system of a folder would still take. Units: bytes.   Errors: io_failed.   Thread: blocks.
Result<std::uint64_t> free_bytes_of(const std::filesystem::path& folder);

/// Whether `wanted` more bytes leave the headroom free. Errors: disk_full.
Result<void> judge_room(const Room& room, std::uint64_t wanted, std::uint64_t headroom_bytes);

/// The same of the disk that blobs have for themselves; where they have none there is nothing to ask: what arrived on
/// the spool's is there. Errors: disk_full, io_failed.   Thread: blocks as the disk does, which may be a network's.
Result<void> check_room(const BlobStore& blobs, std::uint64_t wanted, std::uint64_t headroom_bytes);

}  // namespace traceweir::spool
