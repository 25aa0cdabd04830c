#include "server/s3/s3_blob_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <utility>

#include "server/hash/sha256.hpp"
#include "server/spool/uuid.hpp"

namespace traceweir::s3 {
namespace {

constexpr std::size_t hash_letters = 64;
/// How often a blob is looked for again, whose objects went or came back damaged while it was fetched.
constexpr int fetches_max = 3;

std::uint64_t part_bytes_of(const Settings& settings, std::uint64_t bytes) {
  return std::max(settings.part_bytes, bytes / parts_max + 1);
}

Result<void> read_part(std::ifstream& in, std::vector<char>& part) {
  in.read(part.data(), static_cast<std::streamsize>(part.size()));
  if (in.gcount() != static_cast<std::streamsize>(part.size()))
    return fail(ErrorCode::io_failed, "the upload cannot be read back from the spool");
  return {};
}

}  // namespace

/// One object of a blob.
struct S3BlobStore::Object {
  std::string sha256, key;
  std::uint64_t bytes = 0;
  Seconds age = 0;  ///< by the store's own clock
};

bool S3BlobStore::is_younger(const Object& a, const Object& b) { return a.age < b.age; }

/// What may go.
struct S3BlobStore::Removal {
  const IsReferredTo& is_referred_to;
  std::chrono::seconds age;
};

S3BlobStore::S3BlobStore(Settings settings, spool::Spool arriving, std::unique_ptr<spool::BlobCache> cache)
    : client_(std::move(settings)), arriving_(std::move(arriving)), cache_(std::move(cache)) {}

Result<std::unique_ptr<S3BlobStore>> S3BlobStore::open(Settings settings, const std::filesystem::path& data_dir,
                                                       std::uint64_t disk_headroom_bytes) {
  TRACEWEIR_TRY(credentials, settings.credentials.read());
  static_cast<void>(credentials);  // read again for each request; a mistake is to be seen at the start
  // What was kept once may be fetched, however small uploads may be today.
  const spool::SpoolLimits limits{std::numeric_limits<std::uint64_t>::max(), disk_headroom_bytes};
  TRACEWEIR_TRY(arriving, spool::Spool::open(data_dir, limits));
  TRACEWEIR_TRY(cache, spool::BlobCache::open(data_dir, settings.cache_bytes_max));
  return std::make_unique<S3BlobStore>(std::move(settings), std::move(arriving), std::move(cache));
}

std::string S3BlobStore::root() const {
  const std::string& prefix = client_.settings().place.prefix;
  return prefix.empty() ? "" : prefix + "/";
}

std::string S3BlobStore::folder_of(std::string_view sha256) const {
  return fmt::format("{}{}/{}/", root(), sha256.substr(0, 2), sha256);
}

Result<void> S3BlobStore::keep(spool::SpooledFile&& file) {
  spool::SpooledFile kept = std::move(file);  // whatever happens, the caller has no .part any more
  TRACEWEIR_TRY_VOID(put(folder_of(kept.sha256()) + spool::new_uuid(), kept));
  // Its analysis reads it next.
  const std::string sha256 = kept.sha256();
  static_cast<void>(cache_->adopt(std::move(kept).take_file(), sha256));
  return {};
}

Result<void> S3BlobStore::put(const std::string& key, const spool::SpooledFile& file) {
  if (file.bytes() <= client_.settings().part_bytes) {
    std::ifstream in(file.path(), std::ios::binary);
    std::vector<char> whole(file.bytes());
    TRACEWEIR_TRY_VOID(read_part(in, whole));
    return client_.put(key, whole);
  }
  TRACEWEIR_TRY(upload, client_.begin_parts(key));
  const auto done = put_parts(key, upload, file);
  // What is left of it would be paid for, and seen by nobody. Where this fails, too, the bucket's rule removes it.
  if (!done) static_cast<void>(client_.abort_parts(key, upload));
  return done;
}

Result<void> S3BlobStore::put_parts(const std::string& key, const std::string& upload, const spool::SpooledFile& file) {
  std::ifstream in(file.path(), std::ios::binary);
  const std::uint64_t part_bytes = part_bytes_of(client_.settings(), file.bytes());
  std::vector<std::string> etags;
  std::vector<char> part;
  for (std::uint64_t begin = 0; begin < file.bytes(); begin += part_bytes) {
    part.resize(std::min(part_bytes, file.bytes() - begin));
    TRACEWEIR_TRY_VOID(read_part(in, part));
    TRACEWEIR_TRY(etag, client_.put_part(key, upload, etags.size() + 1, part));
    etags.push_back(etag);
  }
  const auto completed = client_.complete_parts(key, upload, etags);
  // Its answer may have been lost, or an error may have come after the fact: what counts is whether the object is
  // there.
  const auto size = client_.size_of(key);
  if (size && *size == file.bytes()) return {};
  if (!completed) return completed;
  return fail(ErrorCode::store_unavailable,
              "blob store: cannot be used now: an upload in parts was put together wrongly");
}

/// Nothing: it is none of ours.
std::optional<S3BlobStore::Object> S3BlobStore::object_of(const ListedObject& listed, Seconds now) const {
  const std::string_view key = listed.key;
  constexpr std::size_t folder_letters = 3;
  if (!key.starts_with(root()) || key.size() < root().size() + folder_letters + hash_letters) return std::nullopt;
  std::string sha256(key.substr(root().size() + folder_letters, hash_letters));
  if (!hash::is_sha256(sha256) || !key.starts_with(folder_of(sha256)) || listed.bytes == 0) return std::nullopt;
  return Object{std::move(sha256), listed.key, listed.bytes, now - listed.modified.value_or(now)};
}

Result<std::vector<S3BlobStore::Object>> S3BlobStore::objects_of(std::string_view sha256) {
  std::vector<Object> objects;
  std::string from;
  do {
    TRACEWEIR_TRY(listed, client_.list(folder_of(sha256), from));
    for (const ListedObject& one : listed.listing.objects)
      if (auto object = object_of(one, listed.now); object && object->sha256 == sha256)
        objects.push_back(*std::move(object));
    from = listed.listing.next;
  } while (!from.empty());
  std::stable_sort(objects.begin(), objects.end(), is_younger);
  return objects;
}

/// Piece by piece, so that each is bounded, and only what was cut is asked for again.
Result<spool::SpooledFile> S3BlobStore::download(const Object& object) {
  TRACEWEIR_TRY(file, arriving_.create(object.bytes));
  for (std::uint64_t begin = 0; begin < object.bytes;) {
    const std::uint64_t bytes = std::min(client_.settings().part_bytes, object.bytes - begin);
    TRACEWEIR_TRY(piece, client_.get(object.key, begin, bytes));
    TRACEWEIR_TRY_VOID(file.write(std::as_bytes(std::span(piece))));
    begin += bytes;
  }
  return std::move(file).finish();
}

Result<spool::LocalBlob> S3BlobStore::fetch(std::string_view sha256) {
  const auto gone = [] { return fail(ErrorCode::not_found, "the file is no longer kept"); };
  if (!hash::is_sha256(sha256)) return fail(ErrorCode::not_found, "not a SHA-256: 64 characters of lower-case hex");
  if (auto copy = cache_->find(sha256)) return *std::move(copy);
  bool damaged = false;
  for (int number = 0; number < fetches_max; ++number) {
    TRACEWEIR_TRY(objects, objects_of(sha256));
    if (objects.empty()) return gone();
    for (const Object& object : objects) {
      auto file = download(object);
      if (file && file->sha256() == sha256) return cache_->adopt(std::move(*file).take_file(), sha256);
      if (!file && file.error().code != ErrorCode::not_found) return tl::unexpected(std::move(file).error());
      damaged = damaged || file.has_value();
    }
  }
  if (damaged)
    return fail(ErrorCode::io_failed, "the blob store gives other bytes than were kept: their SHA-256 differs");
  return gone();
}

/// `objects`: all of one blob that were seen before this, the youngest first. Who refers to it is asked after that. Of
/// one that is referred to, the youngest stays.
Result<std::size_t> S3BlobStore::remove_of(const std::vector<Object>& objects, const Removal& removal) {
  const auto is_old = [&](const Object& object) { return object.age >= removal.age.count(); };
  if (std::none_of(objects.begin(), objects.end(), is_old)) return 0;
  const std::string& sha256 = objects.front().sha256;
  const bool is_referred_to = removal.is_referred_to(sha256);
  std::size_t removed = 0;
  for (std::size_t i = is_referred_to ? 1 : 0; i < objects.size(); ++i) {
    if (!is_old(objects[i])) continue;
    TRACEWEIR_TRY_VOID(client_.remove(objects[i].key));
    ++removed;
  }
  if (!is_referred_to) cache_->drop_if([&](std::string_view copy) { return copy == sha256; });
  return removed;
}

Result<void> S3BlobStore::remove(std::string_view sha256, const IsReferredTo& is_referred_to,
                                 std::chrono::seconds age) {
  if (!hash::is_sha256(sha256)) return {};
  TRACEWEIR_TRY(objects, objects_of(sha256));
  TRACEWEIR_TRY(removed, remove_of(objects, {is_referred_to, age}));
  static_cast<void>(removed);
  return {};
}

/// The list comes in the order of keys, so that the objects of a blob stand together.
Result<std::size_t> S3BlobStore::sweep(const IsReferredTo& is_referred_to, std::chrono::seconds age) {
  std::size_t removed = 0;
  std::vector<Object> group;
  const auto settle = [&]() -> Result<void> {
    std::stable_sort(group.begin(), group.end(), is_younger);
    TRACEWEIR_TRY(count, remove_of(std::exchange(group, {}), {is_referred_to, age}));
    removed += count;
    return {};
  };
  std::string from;
  do {
    TRACEWEIR_TRY(listed, client_.list(root(), from));
    for (const ListedObject& one : listed.listing.objects) {
      auto object = object_of(one, listed.now);
      if (!object) continue;
      if (!group.empty() && group.front().sha256 != object->sha256) TRACEWEIR_TRY_VOID(settle());
      group.push_back(*std::move(object));
    }
    from = listed.listing.next;
  } while (!from.empty());
  TRACEWEIR_TRY_VOID(settle());
  // Copies on this machine of what others have removed.
  cache_->drop_if([&](std::string_view copy) { return !is_referred_to(copy); });
  return removed;
}

Result<std::string> S3BlobStore::owner() {
  constexpr std::uint64_t owner_letters_max = 64;
  const std::string key = root() + ".store";
  TRACEWEIR_TRY(listed, client_.list(key, ""));
  const auto& objects = listed.listing.objects;
  const auto named = std::find_if(objects.begin(), objects.end(), [&](const ListedObject& o) { return o.key == key; });
  if (named == objects.end() || named->bytes == 0) return std::string();
  return client_.get(key, 0, std::min(named->bytes, owner_letters_max));
}

}  // namespace traceweir::s3
