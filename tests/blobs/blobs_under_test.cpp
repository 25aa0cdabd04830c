#include "tests/blobs/blobs_under_test.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "server/s3/s3_blob_store.hpp"
#include "server/spool/directory_blob_store.hpp"

namespace traceweir::blobs_test {
namespace {

namespace fs = std::filesystem;

constexpr const char* shared_memory = "/dev/shm";

std::optional<dev_t> device_of(const fs::path& folder) {
  struct stat about {};
  return ::stat(folder.c_str(), &about) == 0 ? std::optional(about.st_dev) : std::nullopt;
}

std::vector<std::string> lines_of(const fs::path& file) {
  std::ifstream in(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

Folder::Folder(const fs::path& above) {
  std::string name = (above / "traceweir-blobs-XXXXXX").string();
  REQUIRE(::mkdtemp(name.data()) != nullptr);
  path_ = name;
}

Folder::~Folder() { fs::remove_all(path_); }

StandIn::StandIn(const fs::path& folder) : folder_(folder) {
  std::array<int, 2> in{}, out{};
  REQUIRE(::pipe2(in.data(), O_CLOEXEC) == 0);
  REQUIRE(::pipe2(out.data(), O_CLOEXEC) == 0);
  pid_ = ::fork();
  REQUIRE(pid_ >= 0);
  if (pid_ == 0) {
    ::dup2(in[0], STDIN_FILENO);
    ::dup2(out[1], STDOUT_FILENO);
    ::execlp("python3", "python3", "tests/support/s3.py", folder.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  stdin_ = in[1];
  for (char c = 0; ::read(out[0], &c, 1) == 1 && c != '\n';) port_ += c;
  ::close(out[0]);
  REQUIRE_FALSE(port_.empty());
}

StandIn::~StandIn() {
  ::close(stdin_);
  ::waitpid(pid_, nullptr, 0);
}

void StandIn::fail(const std::vector<std::string>& faults) const {
  std::ofstream out(folder_ / "faults", std::ios::trunc);
  for (const std::string& fault : faults) out << fault << '\n';
}

std::vector<std::string> StandIn::requests() const { return lines_of(folder_ / "requests"); }

s3::Settings StandIn::settings() const {
  s3::Settings settings;
  settings.place = {"traces", "team/blobs"};
  settings.endpoint = {s3::Endpoint::Scheme::http, "127.0.0.1", port_};
  settings.region = "eu-test-1";
  settings.credentials.environment = {"AKIDEXAMPLE", "wJalrXUtnFEMI+K7MDENG/bPxRfiCYEXAMPLEKEY", ""};
  settings.time_max = std::chrono::seconds{20};
  settings.pause = std::chrono::milliseconds{1};
  settings.part_bytes = s3::part_bytes_min;
  settings.cache_bytes_max = 0;
  return settings;
}

Place::Place(Kind kind) : kind_(kind) {
  if (kind == Kind::s3) s3.emplace(folder.path() / "s3");
  if (kind == Kind::other_disk) {
    other_disk_.emplace(shared_memory);
    fs::create_directory_symlink(other_disk_->path(), folder.path() / "blobs");
  }
  spool_ = spool::Spool::open(folder.path(), {.upload_bytes_max = 1 << 30, .disk_headroom_bytes = 0}).value();
  blobs_ = another();
}

std::unique_ptr<spool::BlobStore> Place::another() const {
  if (kind_ != Kind::s3) return spool::DirectoryBlobStore::open(folder.path()).value();
  return s3::S3BlobStore::open(s3->settings(), folder.path(), 0).value();
}

spool::SpooledFile Place::spooled(std::string_view text) const {
  spool::IncomingFile file = spool_->create(std::nullopt).value();
  REQUIRE(file.write(std::as_bytes(std::span(text))));
  return std::move(file).finish().value();
}

std::string Place::keep(std::string_view text) {
  spool::SpooledFile file = spooled(text);
  std::string sha256 = file.sha256();
  const auto kept = blobs_->keep(std::move(file));
  REQUIRE_MESSAGE(kept.has_value(), kept.error().message);
  return sha256;
}

std::optional<std::string> Place::text_of(std::string_view sha256) {
  const auto blob = blobs_->fetch(sha256);
  if (blob) return text_in(blob->path());
  CHECK(blob.error().code == ErrorCode::not_found);
  return std::nullopt;
}

std::vector<fs::path> Place::kept() const {
  std::vector<fs::path> files;
  const fs::path root = folder.path() / (kind_ == Kind::s3 ? "s3/objects" : "blobs");
  for (const auto& entry : fs::recursive_directory_iterator(root))
    if (entry.is_regular_file() && entry.path().filename() != ".lock") files.push_back(entry.path());
  return files;
}

void Place::age(std::chrono::seconds by) const {
  std::error_code removed_meanwhile;
  for (const fs::path& file : kept()) {
    const auto time = fs::last_write_time(file, removed_meanwhile);
    if (!removed_meanwhile) fs::last_write_time(file, time - by, removed_meanwhile);
  }
}

bool has_other_disk() {
  const auto other = device_of(shared_memory);
  const bool is_other = other && ::access(shared_memory, W_OK) == 0 && other != device_of(fs::temp_directory_path());
  if (!is_other) MESSAGE("/dev/shm is no other disk than that of temporary files: not tried on two");
  return is_other;
}

std::string text_in(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace traceweir::blobs_test
