#include "server/backup/backup.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>

#include "server/backup/archive.hpp"
#include "server/hash/sha256.hpp"
#include "server/spool/file.hpp"
#include "server/spool/room.hpp"
#include "server/wire/timestamp.hpp"

namespace traceweir::backup {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds say_every{2};

/// Says how far the traces are, now and then.
class TraceProgress {
 public:
  TraceProgress(const Say& say, std::size_t all) : say_(say), all_(all) {}
  void next() {
    ++done_;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < say_every && done_ != all_) return;
    last_ = now;
    say_(fmt::format("traces: {} of {}", done_, all_));
  }

 private:
  const Say& say_;
  std::size_t all_, done_ = 0;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

void say_table(const Say& say, const store::TableDigest& digest) {
  say(fmt::format("table {}: {} row{}", digest.table, digest.rows, digest.rows == 1 ? "" : "s"));
}

/// A blob opened, and its size.
struct OpenBlob {
  spool::LocalBlob blob;
  spool::OwnedFile file;
  std::uint64_t bytes = 0;
};

/// Nothing: it is not kept any more.
Result<std::optional<OpenBlob>> open_blob(spool::BlobStore& blobs, const std::string& sha256) {
  auto blob = blobs.fetch(sha256);
  if (!blob && blob.error().code == ErrorCode::not_found) return std::nullopt;
  if (!blob) return tl::unexpected(std::move(blob).error());
  spool::OwnedFile file(::open(blob->path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (file.get() < 0 && errno == ENOENT) return std::nullopt;  // retention took it meanwhile
  struct stat about {};
  if (file.get() < 0 || ::fstat(file.get(), &about) != 0)
    return tl::unexpected(spool::system_error(errno, "opening the trace " + sha256));
  return std::optional(OpenBlob{*std::move(blob), std::move(file), static_cast<std::uint64_t>(about.st_size)});
}

/// Errors: those of archive and store.
Result<void> add_tables(store::StoreSnapshot& snapshot, ArchiveWriter& archive, Manifest& manifest, const Say& say) {
  for (const store::TableShape& table : snapshot.tables()) {
    TRACEWEIR_TRY(digest, archive.add_table(snapshot, table));
    say_table(say, digest);
    manifest.tables.push_back({table, std::move(digest)});
  }
  return {};
}

Result<void> add_blobs(const std::vector<std::string>& wanted, spool::BlobStore& blobs, ArchiveWriter& archive,
                       Manifest& manifest, const Say& say) {
  TraceProgress progress(say, wanted.size());
  for (const std::string& sha256 : wanted) {
    TRACEWEIR_TRY(blob, open_blob(blobs, sha256));
    progress.next();
    if (!blob) {
      manifest.missing.push_back(sha256);
      continue;
    }
    TRACEWEIR_TRY(kept, archive.add_blob(sha256, blob->file, blob->bytes));
    ++manifest.blobs;
    manifest.blob_bytes += blob->bytes;
    if (kept == ArchiveWriter::Kept::damaged) manifest.damaged.push_back(sha256);
  }
  return {};
}

/// What retention or a deletion took while the backup was written is not missing.
/// Errors: those of the store.
Result<void> forget_removed(const std::string& store_url, Manifest& manifest) {
  if (manifest.missing.empty()) return {};
  TRACEWEIR_TRY(snapshot, store::open_snapshot(store_url));
  TRACEWEIR_TRY(kept, snapshot->blobs(store::Blobs::all));
  std::sort(kept.begin(), kept.end());
  std::erase_if(manifest.missing,
                [&](const std::string& sha256) { return !std::binary_search(kept.begin(), kept.end(), sha256); });
  return {};
}

bool is_known_damage(const Manifest& manifest, const std::string& sha256) {
  return std::find(manifest.damaged.begin(), manifest.damaged.end(), sha256) != manifest.damaged.end();
}

tl::unexpected<Error> damaged_blob(const std::string& sha256) {
  return fail(ErrorCode::hash_mismatch,
              "the backup is damaged: the bytes of the trace " + sha256 + " are others than its name says");
}

/// Errors: those of the archive; disk_full, io_failed, hash_mismatch.
Result<void> restore_blob(const ArchiveReader& archive, const std::string& sha256, const TarEntry& entry,
                          const spool::Spool& spool, spool::BlobStore& blobs) {
  TRACEWEIR_TRY(incoming, spool.create(entry.bytes));
  TRACEWEIR_TRY_VOID(
      archive.read_blob(entry, [&incoming](std::span<const std::byte> bytes) { return incoming.write(bytes); }));
  TRACEWEIR_TRY(spooled, std::move(incoming).finish());
  if (spooled.sha256() != sha256) return damaged_blob(sha256);
  TRACEWEIR_TRY_VOID(spool::check_room(blobs, spooled.bytes(), spool.limits().disk_headroom_bytes));
  return blobs.keep(std::move(spooled));
}

Result<void> restore_blobs(const ArchiveReader& archive, const Place& place, const Say& say) {
  spool::SpoolLimits limits = place.limits;
  limits.upload_bytes_max = std::numeric_limits<std::uint64_t>::max();  // it was let in once
  TRACEWEIR_TRY(spool, spool::Spool::open(place.data_dir, limits));
  TraceProgress progress(say, archive.blobs().size());
  for (const auto& [sha256, entry] : archive.blobs()) {
    if (!is_known_damage(archive.manifest(), sha256))
      TRACEWEIR_TRY_VOID(restore_blob(archive, sha256, entry, spool, place.blobs));
    progress.next();
  }
  return {};
}

Result<void> verify_blobs(const ArchiveReader& archive, const Say& say) {
  TraceProgress progress(say, archive.blobs().size());
  for (const auto& [sha256, entry] : archive.blobs()) {
    hash::Sha256 hash;
    TRACEWEIR_TRY_VOID(archive.read_blob(entry, [&hash](std::span<const std::byte> bytes) -> Result<void> {
      hash.update(bytes);
      return {};
    }));
    if (hash.hex() != sha256 && !is_known_damage(archive.manifest(), sha256)) return damaged_blob(sha256);
    progress.next();
  }
  return {};
}

}  // namespace

Result<Manifest> back_up(const BackupPlan& plan, const Say& say) {
  TRACEWEIR_TRY(archive, ArchiveWriter::create(plan.file, plan.time));
  Manifest manifest;
  manifest.program_version = plan.program_version;
  manifest.taken_at = wire::to_rfc3339(wire::Timestamp{std::chrono::seconds{plan.time}});
  manifest.traces = plan.traces;
  std::vector<std::string> wanted;
  {
    TRACEWEIR_TRY(snapshot, store::open_snapshot(plan.place.store_url));
    manifest.store_version = snapshot->version();
    TRACEWEIR_TRY_VOID(add_tables(*snapshot, archive, manifest, say));
    const auto which = plan.traces == Traces::with ? store::Blobs::all : store::Blobs::of_unfinished_runs;
    TRACEWEIR_TRY(blobs, snapshot->blobs(which));
    wanted = std::move(blobs);
  }
  // From here on the store is let go. Its rows were acknowledged after their traces lay on the disk.
  std::sort(wanted.begin(), wanted.end());
  TRACEWEIR_TRY_VOID(add_blobs(wanted, plan.place.blobs, archive, manifest, say));
  TRACEWEIR_TRY_VOID(forget_removed(plan.place.store_url, manifest));
  TRACEWEIR_TRY_VOID(archive.finish(manifest));
  return manifest;
}

Result<Manifest> restore(const fs::path& file, const Place& place, const Say& say) {
  TRACEWEIR_TRY(archive, ArchiveReader::open(file));
  TRACEWEIR_TRY_VOID(spool::make_folder(place.data_dir));
  TRACEWEIR_TRY(target, store::open_target(place.store_url, archive.version()));
  TRACEWEIR_TRY_VOID(restore_blobs(archive, place, say));
  const auto quiet = [](const std::string&, std::int64_t) {};
  TRACEWEIR_TRY(digests, store::copy_tables(archive, *target, quiet));
  for (const store::TableDigest& digest : digests) say_table(say, digest);
  return archive.manifest();
}

Result<Manifest> verify(const fs::path& file, const Say& say) {
  TRACEWEIR_TRY(archive, ArchiveReader::open(file));
  for (const BackedUpTable& table : archive.manifest().tables) {
    TRACEWEIR_TRY_VOID(archive.read(table.shape, [](const store::Row&) -> Result<void> { return {}; }));
    say_table(say, table.digest);
  }
  TRACEWEIR_TRY_VOID(verify_blobs(archive, say));
  return archive.manifest();
}

}  // namespace traceweir::backup
