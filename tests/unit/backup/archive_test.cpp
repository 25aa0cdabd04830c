// A backup's file: what is written comes back, other tools can open it, and no damage goes unseen.
#include "server/backup/archive.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "server/backup/backup.hpp"
#include "server/hash/sha256.hpp"

using namespace traceweir;
using namespace traceweir::backup;

namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "traceweir-backup-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  fs::path operator/(const char* name) const { return path_ / name; }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

 private:
  fs::path path_;
};

const store::TableShape words{
    "words", {{"id", store::ColumnKind::integer}, {"word", store::ColumnKind::text}}, {"id"}, 9};
const store::TableShape empty{"empty", {{"x", store::ColumnKind::real}}, {"x"}, {}};

class Source final : public store::TableSource {
 public:
  [[nodiscard]] std::int64_t version() const override { return 4; }
  [[nodiscard]] const std::vector<store::TableShape>& tables() const override { return tables_; }
  Result<void> read(const store::TableShape& table, const store::RowSink& sink) override {
    for (std::int64_t i = 0; table.name == "words" && i < rows; ++i)
      TRACEWEIR_TRY_VOID(sink({i, "wörd\t" + std::string(text_bytes, 'x')}));
    return {};
  }
  std::int64_t rows = 3;
  std::size_t text_bytes = 1;

 private:
  std::vector<store::TableShape> tables_{empty, words};
};

const std::string trace(700, 'T');

template <typename T>
T must(Result<T> result) {
  REQUIRE_MESSAGE(result.has_value(), result.error().message);
  return std::move(*result);
}

void write_file(const fs::path& file, std::string_view bytes) { std::ofstream(file, std::ios::binary) << bytes; }
std::string read_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A whole archive of the source, with one trace. `name`: what the trace is said to be.
Manifest write_archive(const Folder& folder, const fs::path& file, Source& source, const std::string& name) {
  auto archive = must(ArchiveWriter::create(file, 1'790'000'000));
  Manifest manifest;
  manifest.program_version = "1.2.3";
  manifest.store_version = source.version();
  manifest.taken_at = "2026-11-30T06:12:00Z";
  for (const store::TableShape& table : source.tables())
    manifest.tables.push_back({table, must(archive.add_table(source, table))});
  write_file(folder / "trace", trace);
  const spool::OwnedFile opened(::open((folder / "trace").c_str(), O_RDONLY | O_CLOEXEC));
  const auto kept = must(archive.add_blob(name, opened, trace.size()));
  manifest.blobs = 1;
  manifest.blob_bytes = trace.size();
  if (kept == ArchiveWriter::Kept::damaged) manifest.damaged = {name};
  REQUIRE(archive.finish(manifest));
  return manifest;
}

const Say quiet = [](const std::string&) {};

}  // namespace

TEST_CASE("archive: what is written comes back") {
  const Folder folder;
  Source source;
  source.rows = 5;
  source.text_bytes = 700'000;  // more than one part
  const std::string name = hash::sha256_hex(trace);
  const Manifest written = write_archive(folder, folder / "a.tar", source, name);
  CHECK(written.damaged.empty());
  auto reader = must(ArchiveReader::open(folder / "a.tar"));
  CHECK(reader.version() == 4);
  CHECK(to_json(reader.manifest()) == to_json(written));
  CHECK(reader.tables()[1].last_number == 9);
  CHECK_FALSE(reader.tables()[0].last_number.has_value());
  std::vector<store::Row> rows, expected;
  const auto into = [](std::vector<store::Row>& all) {
    return [&all](const store::Row& row) -> Result<void> {
      all.push_back(row);
      return {};
    };
  };
  REQUIRE(source.read(words, into(expected)));
  REQUIRE(reader.read(words, into(rows)));
  CHECK(rows == expected);
  REQUIRE(reader.blobs().contains(name));
  CHECK(verify(folder / "a.tar", quiet).has_value());
  CHECK((fs::status(folder / "a.tar").permissions() & fs::perms::others_all) == fs::perms::none);
  const std::string listing = "tar -tf " + (folder / "a.tar").string() + " > " + (folder / "list").string();
  REQUIRE(std::system(listing.c_str()) == 0);
  const std::string list = read_file(folder / "list");
  CHECK(list.starts_with("store/words/00000001\nstore/words/00000002\n"));
  CHECK(list.ends_with("blobs/" + name + "\nmanifest.json\nmanifest.sha256\n"));
}

TEST_CASE("archive: no byte can change and no end be lost without being seen") {
  const Folder folder;
  Source source;
  const std::string good = to_json(write_archive(folder, folder / "a.tar", source, hash::sha256_hex(trace)));
  const std::string whole = read_file(folder / "a.tar");
  const fs::path file = folder / "damaged";
  int unseen = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    write_file(file, damaged);
    const auto found = verify(file, quiet);
    if (!found) continue;
    CAPTURE(at);
    CHECK(whole[at] == '\0');  // only what nobody reads: it fills a block up
    CHECK(to_json(*found) == good);
    ++unseen;
  }
  CHECK(unseen < static_cast<int>(whole.size()) / 2);
  for (std::size_t size = 0; size + 512 < whole.size(); size += 64) {
    CAPTURE(size);
    write_file(file, whole.substr(0, size));
    CHECK_FALSE(verify(file, quiet).has_value());
  }
}

TEST_CASE("archive: a trace that was damaged before is in it, and named") {
  const Folder folder;
  Source source;
  const std::string name(64, 'a');
  CHECK(write_archive(folder, folder / "a.tar", source, name).damaged == std::vector<std::string>{name});
  CHECK(verify(folder / "a.tar", quiet)->damaged.size() == 1);
}

TEST_CASE("archive: nothing is replaced, and what was dropped leaves nothing behind") {
  const Folder folder;
  write_file(folder / "a.tar", "mine");
  const auto refused = ArchiveWriter::create(folder / "a.tar", 0);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == ErrorCode::conflict);
  CHECK(read_file(folder / "a.tar") == "mine");
  {
    Source source;
    auto dropped = must(ArchiveWriter::create(folder / "b.tar", 0));
    must(dropped.add_table(source, words));
    CHECK(fs::exists(folder / "b.tar.part"));
    CHECK(ArchiveWriter::create(folder / "b.tar", 0).error().code == ErrorCode::conflict);  // it is being written
    write_file(folder / "b.tar", "somebody else's");
    const auto late = dropped.finish({});
    REQUIRE_FALSE(late.has_value());
    CHECK(late.error().code == ErrorCode::conflict);
  }
  CHECK(read_file(folder / "b.tar") == "somebody else's");
  CHECK(folder.files() == 2);
}

TEST_CASE("archive: what is no backup is refused in words") {
  const Folder folder;
  const std::string cases[] = {"", "{}", std::string(511, 'x'), std::string(4096, 'x'), std::string(1024, '\0')};
  for (const std::string& bytes : cases) {
    write_file(folder / "no", bytes);
    const auto reader = ArchiveReader::open(folder / "no");
    REQUIRE_FALSE(reader.has_value());
    CHECK(reader.error().code == ErrorCode::bad_body);
    CHECK(reader.error().message.find("no backup") != std::string::npos);
  }
  CHECK(ArchiveReader::open(folder / "nowhere").error().code == ErrorCode::io_failed);
}

TEST_CASE("archive: sizes from 8 GiB on are written and read") {
  const Folder folder;
  const spool::OwnedFile file(::open((folder / "big").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  constexpr std::uint64_t bytes = (std::uint64_t{9} << 30) + 1;
  TarWriter tar(file.get(), 0);
  REQUIRE(tar.begin("blobs/big", bytes));
  REQUIRE(::ftruncate(file.get(), 512 + static_cast<off_t>(bytes) + 511 + 1024) == 0);  // holes
  const auto entries = entries_of(file.get());
  REQUIRE_MESSAGE(entries.has_value(), entries.error().message);
  REQUIRE(entries->size() == 1);
  CHECK(entries->front().bytes == bytes);
  CHECK(entries->front().offset == 512);
}

TEST_CASE("manifest: what it cannot be is refused, by key") {
  Manifest manifest;
  manifest.store_version = 4;
  manifest.tables.push_back({words, {"words", 1, "aa"}});
  const std::string good = to_json(manifest);
  REQUIRE(manifest_of(good).has_value());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
  };
  const std::pair<std::string, const char*> cases[] = {
      {"[]", "object"},
      {"{\"schema\": ", "byte"},
      {with("backup/1", "backup/2"), "schema"},
      {with("\"store_version\":4", "\"store_version\":\"4\""), "store_version"},
      {with("\"damaged\":[]", "\"damaged\":[1]"), "damaged"},
      {with("\"kind\":\"text\"", "\"kind\":\"blob\""), "kind"},
      {with("\"rows\":1", "\"rows\":null"), "rows"},
  };
  for (const auto& [json, named] : cases) {
    CAPTURE(json);
    const auto read = manifest_of(json);
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().code == ErrorCode::bad_body);
    CHECK(read.error().message.find(named) != std::string::npos);
  }
}
