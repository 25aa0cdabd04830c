#include "server/backup/archive.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "server/hash/sha256.hpp"
#include "server/store/row_text.hpp"

namespace traceweir::backup {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view manifest_name = "manifest.json", seal_name = "manifest.sha256", store_folder = "store/",
                           blob_folder = "blobs/";
/// Rows are written in parts of so many bytes (one row may be longer); longer ones are not read.
constexpr std::size_t part_bytes = std::size_t{1} << 20, part_bytes_max = std::size_t{1} << 30;
constexpr std::size_t piece_bytes = std::size_t{1} << 20;

tl::unexpected<Error> refused(std::string_view why) {
  return fail(ErrorCode::bad_body, "no backup, or a damaged one: " + std::string(why));
}

/// The last entry: a line for sha256sum.
std::string seal_of(std::string_view manifest) {
  return hash::sha256_hex(manifest) + "  " + std::string(manifest_name) + '\n';
}

/// Gives `part` its name without ever replacing a file. Errors: conflict, io_failed.
Result<void> give_name(const fs::path& part, const fs::path& file) {
  if (::renameat2(AT_FDCWD, part.c_str(), AT_FDCWD, file.c_str(), RENAME_NOREPLACE) == 0) return {};
  if (errno == EEXIST) return fail(ErrorCode::conflict, file.string() + " exists: a backup replaces nothing");
  // Some file systems cannot do both at once.
  if (errno != EINVAL || fs::exists(file) || ::rename(part.c_str(), file.c_str()) != 0)
    return tl::unexpected(spool::system_error(errno, "naming the backup"));
  return {};
}

/// A table as it is written: rows gather until they make a part.
class TableParts {
 public:
  TableParts(TarWriter& tar, std::string table) : tar_(tar), table_(std::move(table)) {}

  Result<void> add(const store::Row& row) {
    rows_ += digester_.add(row);
    return rows_.size() < part_bytes ? Result<void>{} : write();
  }
  Result<store::TableDigest> finish() {
    if (!rows_.empty()) TRACEWEIR_TRY_VOID(write());
    return digester_.finish(table_);
  }

 private:
  Result<void> write() {
    const std::string name = fmt::format("{}{}/{:08}", store_folder, table_, ++number_);
    TRACEWEIR_TRY_VOID(tar_.add(name, rows_));
    rows_.clear();
    return {};
  }

  TarWriter& tar_;
  std::string table_, rows_;
  store::TableDigester digester_;
  int number_ = 0;
};

}  // namespace

ArchiveWriter::ArchiveWriter(fs::path file, spool::OwnedPath part, spool::OwnedFile opened, std::int64_t time)
    : file_(std::move(file)), part_(std::move(part)), opened_(std::move(opened)), tar_(opened_.get(), time) {}

Result<ArchiveWriter> ArchiveWriter::create(const fs::path& file, std::int64_t time) {
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(file, ignored)))
    return fail(ErrorCode::conflict, file.string() + " exists: a backup replaces nothing");
  fs::path part = file;
  part += ".part";
  spool::OwnedFile opened(::open(part.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (opened.get() < 0) return tl::unexpected(spool::system_error(errno, "making " + part.string()));
  if (::flock(opened.get(), LOCK_EX | LOCK_NB) != 0)
    return fail(ErrorCode::conflict, part.string() + ": another backup is writing it");
  // What a killed backup left is begun anew.
  if (::ftruncate(opened.get(), 0) != 0) return tl::unexpected(spool::system_error(errno, "writing " + part.string()));
  return ArchiveWriter(file, spool::OwnedPath(part), std::move(opened), time);
}

Result<store::TableDigest> ArchiveWriter::add_table(store::TableSource& source, const store::TableShape& table) {
  TableParts parts(tar_, table.name);
  TRACEWEIR_TRY_VOID(source.read(table, [&](const store::Row& row) { return parts.add(row); }));
  return parts.finish();
}

Result<ArchiveWriter::Kept> ArchiveWriter::add_blob(const std::string& sha256, const spool::OwnedFile& file,
                                                    std::uint64_t bytes) {
  TRACEWEIR_TRY_VOID(tar_.begin(std::string(blob_folder) + sha256, bytes));
  hash::Sha256 hash;
  std::vector<std::byte> piece(std::min<std::uint64_t>(piece_bytes, bytes));
  for (std::uint64_t left = bytes; left > 0;) {
    const ssize_t read = ::read(file.get(), piece.data(), std::min<std::uint64_t>(piece.size(), left));
    if (read < 0 && errno == EINTR) continue;
    if (read <= 0) break;  // unreadable or cut: what is missing of it becomes zeros, and the hash tells
    const auto part = std::span(piece).first(static_cast<std::size_t>(read));
    hash.update(part);
    TRACEWEIR_TRY_VOID(tar_.append(part));
    left -= static_cast<std::uint64_t>(read);
  }
  TRACEWEIR_TRY_VOID(tar_.end());
  return hash.hex() == sha256 ? Kept::whole : Kept::damaged;
}

Result<void> ArchiveWriter::finish(const Manifest& manifest) {
  const std::string text = to_json(manifest);
  TRACEWEIR_TRY_VOID(tar_.add(manifest_name, text));
  TRACEWEIR_TRY_VOID(tar_.add(seal_name, seal_of(text)));
  TRACEWEIR_TRY_VOID(tar_.finish());
  if (::fsync(opened_.get()) != 0) return tl::unexpected(spool::system_error(errno, "syncing the backup"));
  TRACEWEIR_TRY_VOID(give_name(part_.path(), file_));
  part_.release();
  const fs::path folder = file_.parent_path();
  return spool::sync_folder(folder.empty() ? fs::path(".") : folder);
}

Result<ArchiveReader> ArchiveReader::open(const fs::path& file) {
  spool::OwnedFile opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (opened.get() < 0) return tl::unexpected(spool::system_error(errno, "opening " + file.string()));
  TRACEWEIR_TRY(entries, entries_of(opened.get()));
  ArchiveReader reader(std::move(opened));
  TRACEWEIR_TRY_VOID(reader.index(entries));
  return reader;
}

Result<void> ArchiveReader::index(const std::vector<TarEntry>& entries) {
  if (entries.size() < 2 || entries.back().name != seal_name) return refused("it has no manifest at its end");
  TRACEWEIR_TRY(text, text_of(entries[entries.size() - 2]));
  TRACEWEIR_TRY(seal, text_of(entries.back()));
  if (seal != seal_of(text)) return refused("its manifest is not the one that was written");
  TRACEWEIR_TRY(manifest, manifest_of(text));
  manifest_ = std::move(manifest);
  for (const BackedUpTable& table : manifest_.tables) tables_.push_back(table.shape);
  for (const TarEntry& entry : entries) {
    const std::string_view name = entry.name;
    if (name.starts_with(store_folder)) {
      const std::string_view table = name.substr(store_folder.size());
      parts_[std::string(table.substr(0, table.find('/')))].push_back(entry);
    } else if (name.starts_with(blob_folder) && hash::is_sha256(name.substr(blob_folder.size()))) {
      blobs_.emplace(name.substr(blob_folder.size()), entry);
    }
  }
  if (blobs_.size() != static_cast<std::size_t>(manifest_.blobs))
    return refused(fmt::format("it has {} traces, its manifest says {}", blobs_.size(), manifest_.blobs));
  return {};
}

Result<std::string> ArchiveReader::text_of(const TarEntry& entry) const {
  if (entry.bytes > part_bytes_max) return refused(entry.name + " is too long");
  std::string text(entry.bytes, '\0');
  TRACEWEIR_TRY_VOID(read_at(file_.get(), entry.offset, std::as_writable_bytes(std::span(text))));
  return text;
}

Result<void> ArchiveReader::read(const store::TableShape& table, const store::RowSink& sink) {
  store::TableDigester digester;
  for (const TarEntry& part : parts_[table.name]) {
    TRACEWEIR_TRY(text, text_of(part));
    for (std::string_view rest = text; !rest.empty();) {
      const std::size_t end = rest.find('\n');
      if (end == std::string_view::npos) return refused(part.name + ": its last row is cut off");
      const auto row = store::row_of(table, rest.substr(0, end));
      if (!row) return refused(row.error().message);
      digester.add(*row);
      TRACEWEIR_TRY_VOID(sink(*row));
      rest.remove_prefix(end + 1);
    }
  }
  for (const BackedUpTable& known : manifest_.tables)
    if (known.shape.name == table.name && known.digest != digester.finish(table.name))
      return fail(ErrorCode::hash_mismatch, "the backup is damaged: the rows of " + table.name +
                                                " are not those that its manifest has the hash of");
  return {};
}

Result<void> ArchiveReader::read_blob(const TarEntry& entry, const BlobSink& sink) const {
  std::vector<std::byte> piece(std::min<std::uint64_t>(piece_bytes, entry.bytes));
  for (std::uint64_t at = 0; at < entry.bytes;) {
    const auto part = std::span(piece).first(std::min<std::uint64_t>(piece.size(), entry.bytes - at));
    TRACEWEIR_TRY_VOID(read_at(file_.get(), entry.offset + at, part));
    TRACEWEIR_TRY_VOID(sink(part));
    at += part.size();
  }
  return {};
}

}  // namespace traceweir::backup
