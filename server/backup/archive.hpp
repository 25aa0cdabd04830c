// For: a backup as one file: `store/<table>/<number>` (rows as text), `blobs/<sha256>`, at last `manifest.json`
// and `manifest.sha256`.
// Not for: where the rows and blobs come from and go to (backup.hpp).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "analyzer/core/error.hpp"
#include "server/backup/manifest.hpp"
#include "server/backup/tar.hpp"
#include "server/spool/file.hpp"
#include "server/store/copy_tables.hpp"

namespace traceweir::backup {

/// Writes `FILE.part` and gives it its name when it is whole and on the disk. Removes the part when it is dropped.
class ArchiveWriter {
 public:
  /// Errors: conflict (the file exists, or another backup is writing it), io_failed, disk_full.
  static Result<ArchiveWriter> create(const std::filesystem::path& file, std::int64_t time);

  /// Errors: disk_full, io_failed, and those of the source.
  Result<store::TableDigest> add_table(store::TableSource& source, const store::TableShape& table);
  /// What became of a blob: `damaged` when its bytes are others than its name says.
  enum class Kept { whole, damaged };
  /// Errors: disk_full, io_failed.
  Result<Kept> add_blob(const std::string& sha256, const spool::OwnedFile& file, std::uint64_t bytes);
  /// Errors: disk_full, io_failed, conflict (meanwhile there is such a file).
  Result<void> finish(const Manifest& manifest);

 private:
  ArchiveWriter(std::filesystem::path file, spool::OwnedPath part, spool::OwnedFile opened, std::int64_t time);

  std::filesystem::path file_;
  spool::OwnedPath part_;
  spool::OwnedFile opened_;
  TarWriter tar_;
};

using BlobSink = std::function<Result<void>(std::span<const std::byte> bytes)>;

/// A whole archive, as a source of its tables. read() proves that the rows are those that the manifest has the hash of.
class ArchiveReader final : public store::TableSource {
 public:
  /// Errors: bad_body (no backup, one that was cut off, or of another version), io_failed.
  static Result<ArchiveReader> open(const std::filesystem::path& file);

  [[nodiscard]] const Manifest& manifest() const { return manifest_; }
  [[nodiscard]] std::int64_t version() const override { return manifest_.store_version; }
  [[nodiscard]] const std::vector<store::TableShape>& tables() const override { return tables_; }
  /// Errors: bad_body, hash_mismatch, io_failed, and those of `sink`.
  Result<void> read(const store::TableShape& table, const store::RowSink& sink) override;

  /// By SHA-256.
  [[nodiscard]] const std::map<std::string, TarEntry>& blobs() const { return blobs_; }
  /// Gives the bytes of a blob to `sink`, a MiB at a time. Errors: io_failed, bad_body, and those of `sink`.
  Result<void> read_blob(const TarEntry& entry, const BlobSink& sink) const;

 private:
  explicit ArchiveReader(spool::OwnedFile file) : file_(std::move(file)) {}
  Result<void> index(const std::vector<TarEntry>& entries);
  [[nodiscard]] Result<std::string> text_of(const TarEntry& entry) const;

  spool::OwnedFile file_;
  Manifest manifest_;
  std::vector<store::TableShape> tables_;
  std::map<std::string, std::vector<TarEntry>> parts_;
  std::map<std::string, TarEntry> blobs_;
};

}  // namespace traceweir::backup
