// For: an open file or pipe, read in order; and where a trace is unpacked to. Everything in this room reads from
// descriptors, so that a process that may open nothing any more can still read its trace.
// Not for: what the bytes are (inflate.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "analyzer/core/error.hpp"

namespace traceweir::ingest {

/// Owns a descriptor.
/// Thread: one at a time.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();

  /// Errors: io_failed (absent, forbidden, a folder, a device).
  static Result<File> open(const std::filesystem::path& path);

  /// A file without a name in the system's temporary folder, for reading and writing. It goes with its descriptor,
  /// however the process ends. Errors: io_failed.
  static Result<File> temporary();

  /// Fills `buffer` up to the end of the file. Errors: io_failed.
  Result<std::size_t> read(std::span<char> buffer);

  /// The first bytes (fewer: the file is shorter), which read() gives again. Call it before read().
  /// Errors: io_failed.
  Result<std::string_view> peek(std::size_t bytes);

  /// Writes all of it. Errors: io_failed, disk_full, trace_too_large (the limit of the process on file sizes).
  Result<void> write(std::string_view bytes);

  /// The size of a file that nothing was read of; nothing: a pipe, or a file in its middle. Errors: io_failed.
  [[nodiscard]] Result<std::optional<std::uint64_t>> size() const;

  /// Units: bytes taken from the descriptor so far.
  [[nodiscard]] std::uint64_t bytes_read() const { return bytes_read_; }
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  Result<std::size_t> read_descriptor(std::span<char> buffer);

  int descriptor_;
  std::string ahead_;  ///< peeked at and not yet read
  std::uint64_t bytes_read_ = 0;
};

/// Units:  bytes of the file behind a descriptor that can be sought in; its place is kept.
/// Errors: io_failed.
Result<std::uint64_t> size_of(int descriptor);

}  // namespace traceweir::ingest
