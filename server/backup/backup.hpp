// For: a service's store and traces as one file, taken while it runs, and the way back into an empty place.
// Not for: the file's inside (archive.hpp), the command line (server/app).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "analyzer/core/error.hpp"
#include "server/backup/manifest.hpp"
#include "server/spool/blob_store.hpp"
#include "server/spool/spool.hpp"

namespace traceweir::backup {

/// What a service keeps, and where.
struct Place {
  std::string store_url;
  std::filesystem::path data_dir;  ///< traces on their way back pass through its spool
  spool::SpoolLimits limits;
  spool::BlobStore& blobs;
};

/// Told of the progress, a line at a time, now and then.
using Say = std::function<void(const std::string& line)>;

struct BackupPlan {
  Place place;
  std::filesystem::path file;
  Traces traces = Traces::with;  ///< without: only those that runs still need for their result
  std::string program_version;
  std::int64_t time = 0;  ///< seconds since 1970
};

/// Writes the store as it is at one moment, then the traces that its rows refer to. `file` appears when it is whole and
/// on the disk; nothing is left of one that failed. The service goes on meanwhile.
/// Errors: conflict (the file exists), store_unavailable, disk_full, io_failed.
/// Cost:   memory for a few MiB and 100 bytes per trace; on SQLite the WAL grows until the rows are read.
Result<Manifest> back_up(const BackupPlan& plan, const Say& say);

/// Puts a backup into an empty place: the traces first, then the rows, all or nothing.
/// Errors: bad_body, hash_mismatch (it is no backup, or damaged), conflict (the store is not empty), store_unavailable
///         (a service is using it, or the backup is of a later version), disk_full, io_failed.
Result<Manifest> restore(const std::filesystem::path& file, const Place& place, const Say& say);

/// Reads all of a backup and compares every hash; writes nothing. Errors: as restore().
Result<Manifest> verify(const std::filesystem::path& file, const Say& say);

}  // namespace traceweir::backup
