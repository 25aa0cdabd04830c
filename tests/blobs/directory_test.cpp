// Blobs in a folder: what only a folder can meet. What every place promises: contract_test.cpp.
#include <doctest/doctest.h>

#include <fstream>

#include "server/hash/sha256.hpp"
#include "server/spool/room.hpp"
#include "tests/blobs/blobs_under_test.hpp"

using namespace traceweir;
using namespace traceweir::blobs_test;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

void make_old(const fs::path& file, std::chrono::seconds age) {
  fs::last_write_time(file, fs::last_write_time(file) - age);
}

std::optional<ErrorCode> code_of(const Result<void>& result) {
  return result ? std::nullopt : std::optional(result.error().code);
}

}  // namespace

// Why: the folder may be a disk of its own, or a share; none of the two file systems can rename to the other.
TEST_CASE("directory blobs: on another disk than the spool's, an upload is copied as a whole") {
  if (!has_other_disk()) return;
  Place place(Kind::other_disk);
  std::string text(1'000'003, '\0');  // more than is copied at once, and no multiple of it
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 2'654'435'761U >> 16);
  const std::string sha256 = place.keep(text);
  CHECK((place.text_of(sha256) == text));
  CHECK(place.kept() == std::vector{place.folder.path() / "blobs" / sha256.substr(0, 2) / sha256});
  CHECK(fs::status(place.kept().front()).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  CHECK(fs::is_empty(place.folder.path() / "spool" / "incoming"));
}

TEST_CASE("directory blobs: a copy that cannot be made leaves nothing, and one that was cut is swept") {
  if (!has_other_disk()) return;
  Place place(Kind::other_disk);
  const fs::path blobs = place.folder.path() / "blobs";
  const spool::SpooledFile gone = place.spooled("gone");
  fs::remove(gone.path());
  spool::SpooledFile lost(spool::OwnedPath(gone.path()), 4, gone.sha256());
  CHECK(code_of(place.blobs().keep(std::move(lost))) == ErrorCode::io_failed);
  CHECK(place.kept().empty());

  const fs::path half = blobs / "half.part", live = blobs / "live.part";
  std::ofstream(half) << "half";
  std::ofstream(live) << "live";
  make_old(half, 2h);
  CHECK(place.blobs().sweep(nobody, 24h).value() == 0);
  CHECK_FALSE(fs::exists(half));
  CHECK(fs::exists(live));
}

// Why: `lost+found` can be read by root alone, a snapshot by nobody; the sweep of all others must not end there.
TEST_CASE("directory blobs: a sweep looks at what keep() makes, and what cannot be read is told and skipped") {
  Place place(Kind::directory);
  const fs::path blobs = place.folder.path() / "blobs";
  std::vector<std::string> orphans;
  for (const char* text : {"a", "b", "c", "d", "e", "f"}) orphans.push_back(place.keep(text));
  for (const fs::path& foreign : {blobs / ".snapshot" / "ab", blobs / "lost+found", blobs / "AB"}) {
    fs::create_directories(foreign);
    std::ofstream(foreign / orphans.front()) << "not ours";
  }
  place.age(48h);
  CHECK(place.blobs().sweep(nobody, 24h).value() == orphans.size());
  CHECK(place.kept().size() == 3);

  const std::string late = place.keep("late");
  place.age(48h);
  const std::string name = late.starts_with("00") ? "01" : "00";
  std::ofstream(blobs / name) << "a file where a folder is expected: nobody can read it as one";
  const auto swept = place.blobs().sweep(nobody, 24h);
  REQUIRE_FALSE(swept.has_value());
  CHECK(swept.error().code == ErrorCode::io_failed);
  CHECK(swept.error().message.starts_with("looking at the blobs in " + name + ": "));
  CHECK(swept.error().message.ends_with("; all others were looked at, and 1 went"));
  CHECK(place.text_of(late) == std::nullopt);
}

TEST_CASE("directory blobs: a disk of its own has to have room, and the spool's is not asked twice") {
  Place alone(Kind::directory);
  CHECK_FALSE(alone.blobs().own_disk());
  CHECK_FALSE(code_of(spool::check_room(alone.blobs(), UINT64_MAX, UINT64_MAX)));
  if (!has_other_disk()) return;
  Place place(Kind::other_disk);
  REQUIRE(place.blobs().own_disk() == place.folder.path() / "blobs");
  const std::uint64_t free = spool::free_bytes_of(*place.blobs().own_disk()).value();
  CHECK_FALSE(code_of(spool::check_room(place.blobs(), 1, 0)));
  CHECK(code_of(spool::check_room(place.blobs(), UINT64_MAX, 0)) == ErrorCode::disk_full);
  const auto full = spool::check_room(place.blobs(), 0, UINT64_MAX);
  REQUIRE(code_of(full) == ErrorCode::disk_full);
  CHECK(full.error().message.starts_with("the disk of the traces has "));
  CHECK(free > 0);
}
