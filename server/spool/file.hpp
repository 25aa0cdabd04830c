// For: owners of what this room opens: a descriptor, and a path that is removed when nobody keeps it.
// Not for: uploads (spool.hpp).
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <utility>

#include "analyzer/core/error.hpp"

namespace traceweir::spool {

/// Owns a file descriptor.
class OwnedFile {
 public:
  OwnedFile() = default;
  explicit OwnedFile(int descriptor) : descriptor_(descriptor) {}
  OwnedFile(OwnedFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  OwnedFile& operator=(OwnedFile&& other) noexcept;
  ~OwnedFile();

  [[nodiscard]] int get() const { return descriptor_; }

 private:
  int descriptor_ = -1;
};

/// Owns a file by its path: removes it at the end, unless it was released.
class OwnedPath {
 public:
  explicit OwnedPath(std::filesystem::path path) : path_(std::move(path)) {}
  OwnedPath(OwnedPath&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  OwnedPath& operator=(OwnedPath&& other) noexcept;
  ~OwnedPath();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  void release() { path_.clear(); }

 private:
  std::filesystem::path path_;  ///< empty: nothing to remove
};

/// What a failed system call on a file of ours means: a full disk or quota is disk_full, the rest io_failed. The
/// message names what was done and the system's reason, not the path (it may reach a client).
Error system_error(int number, std::string_view doing);

/// Writes all of it. `doing`: what the message says. Errors: io_failed, disk_full.
Result<void> write_all(int descriptor, std::span<const std::byte> bytes, std::string_view doing);

/// Copies a file to a new one, mode 0600, and syncs that; half of it may be left where it fails.
/// Errors: io_failed, disk_full.
Result<void> copy_durably(const std::filesystem::path& from, const std::filesystem::path& to);

/// How files end that somebody is writing.
inline constexpr std::string_view part_ending = ".part";

/// Removes what an earlier life left of them in `folder`: those not written to for `age`. Returns how many.
/// Errors: io_failed.
Result<std::size_t> remove_parts(const std::filesystem::path& folder, std::chrono::seconds age);

/// Makes a folder and its parents, mode 0700.
/// Errors: io_failed, disk_full.
Result<void> make_folder(const std::filesystem::path& folder);

/// Makes a rename or a removal in `folder` durable.
/// Errors: io_failed, disk_full.
Result<void> sync_folder(const std::filesystem::path& folder);

}  // namespace traceweir::spool
