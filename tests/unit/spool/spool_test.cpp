#include "server/spool/spool.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cerrno>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/core/uuid.hpp"
#include "server/spool/uuid.hpp"
#include "tests/unit/spool/temp_folder.hpp"

using namespace traceweir;
using namespace traceweir::spool;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

constexpr std::string_view abc_sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

Spool spool_in(const fs::path& folder, std::uint64_t upload_bytes_max = 1 << 30) {
  return Spool::open(folder, {.upload_bytes_max = upload_bytes_max, .disk_headroom_bytes = 0}).value();
}

SpooledFile spooled(const Spool& spool, std::string_view text) {
  IncomingFile file = spool.create(std::nullopt).value();
  CHECK(file.write(bytes_of(text)));
  return std::move(file).finish().value();
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t files_in(const fs::path& folder) {
  std::size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) count += std::size_t{entry.is_regular_file()};
  return count;
}

unsigned mode_of(const fs::path& path) {
  struct stat about {};
  REQUIRE(::stat(path.c_str(), &about) == 0);
  return about.st_mode & 0777;
}

void make_older(const fs::path& path, std::chrono::seconds age) {
  fs::last_write_time(path, fs::last_write_time(path) - age);
}

template <typename T>
std::optional<ErrorCode> code_of(const Result<T>& result) {
  return result ? std::nullopt : std::optional(result.error().code);
}

}  // namespace

TEST_CASE("uuid: ids are of the one form and never equal") {
  const std::string one = new_uuid();
  CHECK(is_uuid(one));
  CHECK(one != new_uuid());
}

TEST_CASE("spool: an upload becomes a whole, hashed, private file") {
  const TempFolder folder;
  const Spool spool = spool_in(folder.path);
  IncomingFile file = spool.create(3).value();
  CHECK(file.path().parent_path() == folder.path / "spool" / "incoming");
  CHECK(file.path().extension() == ".part");
  CHECK(mode_of(file.path()) == 0600);
  CHECK(mode_of(file.path().parent_path()) == 0700);
  REQUIRE(file.write(bytes_of("ab")));
  REQUIRE(file.write(bytes_of("c")));
  const SpooledFile whole = std::move(file).finish().value();
  CHECK(whole.bytes() == 3);
  CHECK(whole.sha256() == abc_sha256);
  CHECK(text_of(whole.path()) == "abc");
}

// Why: a cut upload must leave nothing behind, whichever way it ended.
TEST_CASE("spool: what is dropped is gone") {
  const TempFolder folder;
  const Spool spool = spool_in(folder.path);
  {
    IncomingFile file = spool.create(std::nullopt).value();
    REQUIRE(file.write(bytes_of("half")));
    CHECK(files_in(folder.path) == 1);
    IncomingFile moved = std::move(file);
    CHECK(files_in(folder.path) == 1);
  }
  CHECK(files_in(folder.path) == 0);
  { const SpooledFile whole = spooled(spool, "whole"); }
  CHECK(files_in(folder.path) == 0);
  CHECK(code_of(spool.create(std::nullopt).value().write({})) == std::nullopt);
  CHECK(code_of(std::move(*spool.create(std::nullopt)).finish()) == ErrorCode::empty_upload);
  CHECK(files_in(folder.path) == 0);
}

TEST_CASE("spool: the upload limit, announced and not") {
  const TempFolder folder;
  const Spool spool = spool_in(folder.path, 4);
  CHECK(code_of(spool.create(5)) == ErrorCode::upload_too_large);
  CHECK(code_of(spool.create(UINT64_MAX)) == ErrorCode::upload_too_large);
  IncomingFile file = spool.create(std::nullopt).value();
  CHECK(file.write(bytes_of("abcd")));
  const Result<void> more = file.write(bytes_of("e"));
  CHECK(code_of(more) == ErrorCode::upload_too_large);
  CHECK(more.error().message.find("upload_bytes_max is 4") != std::string::npos);
}

// Why: uploads must never take the space that the store needs to answer.
TEST_CASE("spool: no room is disk_full, before the upload and during it") {
  const TempFolder folder;
  const SpoolLimits limits{.upload_bytes_max = UINT64_MAX, .disk_headroom_bytes = 0};
  const Spool roomy = Spool::open(folder.path, limits).value();
  CHECK(roomy.check_headroom());
  CHECK(code_of(roomy.create(UINT64_MAX)) == ErrorCode::disk_full);
  const Spool full = Spool::open(folder.path, {.disk_headroom_bytes = UINT64_MAX}).value();
  CHECK(code_of(full.check_headroom()) == ErrorCode::disk_full);
  CHECK(code_of(full.create(1)) == ErrorCode::disk_full);
  CHECK(files_in(folder.path) == 0);
}

TEST_CASE("spool: system errors that mean a full disk, and others") {
  struct Row {
    int number;
    ErrorCode want;
  };
  for (const Row& row : {Row{ENOSPC, ErrorCode::disk_full}, Row{EDQUOT, ErrorCode::disk_full},
                         Row{EIO, ErrorCode::io_failed}, Row{EACCES, ErrorCode::io_failed}}) {
    CHECK(system_error(row.number, "writing").code == row.want);
  }
  CHECK(system_error(ENOSPC, "writing").message == "writing: No space left on device");
}

TEST_CASE("spool: a folder that cannot be made is an error that names it") {
  const TempFolder folder;
  std::ofstream(folder.path / "spool") << "a file in the way";
  const auto spool = Spool::open(folder.path, {});
  REQUIRE(code_of(spool) == ErrorCode::io_failed);
  CHECK(spool.error().message.find((folder.path / "spool").string()) != std::string::npos);
}

TEST_CASE("spool: the sweep takes what an earlier life left, and nothing else") {
  const TempFolder folder;
  const Spool spool = spool_in(folder.path);
  const fs::path left = spool.folder() / "left.part";
  const fs::path foreign = spool.folder() / "notes.txt";
  std::ofstream(left) << "x";
  std::ofstream(foreign) << "x";
  make_older(left, 2h);
  make_older(foreign, 2h);
  const SpooledFile live = spooled(spool, "live");
  CHECK(spool.sweep().value() == 1);
  CHECK_FALSE(fs::exists(left));
  CHECK(fs::exists(foreign));
  CHECK(fs::exists(live.path()));
}
