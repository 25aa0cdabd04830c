// For: each place of blobs, empty, and what a test does to it from outside. Not for: what places promise (*_test.cpp).
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/s3/settings.hpp"
#include "server/spool/blob_store.hpp"
#include "server/spool/spool.hpp"

namespace traceweir::blobs_test {

/// Whose a blob is not.
inline constexpr auto nobody = [](std::string_view) { return false; };

/// A folder that goes with it.
class Folder {
 public:
  explicit Folder(const std::filesystem::path& above = std::filesystem::temp_directory_path());
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// tests/support/s3.py, as a process of its own.
class StandIn {
 public:
  explicit StandIn(const std::filesystem::path& folder);
  ~StandIn();
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;

  /// From now on these go wrong, and no others: see s3.py.
  void fail(const std::vector<std::string>& faults) const;
  [[nodiscard]] std::vector<std::string> requests() const;
  /// Pauses are short, and nothing is cached.
  [[nodiscard]] s3::Settings settings() const;

 private:
  std::filesystem::path folder_;
  int stdin_ = -1, pid_ = -1;
  std::string port_;
};

/// other_disk: a folder on another file system than the spool.
enum class Kind { directory, other_disk, s3 };

/// A place of blobs and a spool before it.
class Place {
 public:
  explicit Place(Kind kind);

  [[nodiscard]] spool::BlobStore& blobs() { return *blobs_; }
  /// Another process's view of the same place.
  [[nodiscard]] std::unique_ptr<spool::BlobStore> another() const;
  [[nodiscard]] spool::SpooledFile spooled(std::string_view text) const;
  /// Keeps a text; returns its hash.
  std::string keep(std::string_view text);
  /// What fetch() gives to read; nothing: there is no such blob.
  [[nodiscard]] std::optional<std::string> text_of(std::string_view sha256);
  /// Makes everything that is kept older.
  void age(std::chrono::seconds by) const;
  /// Files, or objects, that are kept.
  [[nodiscard]] std::vector<std::filesystem::path> kept() const;

  Folder folder;
  std::optional<StandIn> s3;

 private:
  Kind kind_;
  std::optional<Folder> other_disk_;
  std::optional<spool::Spool> spool_;
  std::unique_ptr<spool::BlobStore> blobs_;
};

std::string text_in(const std::filesystem::path& file);

/// Whether there is another file system to try it on: `/dev/shm`. Says so where there is none.
bool has_other_disk();

/// Runs `body(Place&)` in a new place of each kind.
template <typename Body>
void in_each_place(const Body& body) {
  for (const Kind kind : {Kind::directory, Kind::other_disk, Kind::s3}) {
    if (kind == Kind::other_disk && !has_other_disk()) continue;
    CAPTURE(static_cast<int>(kind));
    Place place(kind);
    body(place);
  }
}

}  // namespace traceweir::blobs_test
