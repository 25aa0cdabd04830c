// For: a trace that is about to be read, from a file or a pipe: its first bytes after decompression, then all of them.
// Not for: which format it is (format_table.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/core/error.hpp"
#include "analyzer/ingest/inflate.hpp"
#include "analyzer/ingest/ingest.hpp"
#include "analyzer/ingest/open_file.hpp"

namespace traceweir::ingest {

inline constexpr std::size_t head_bytes_max = 4096;

/// An open trace at its beginning.
/// Thread: one at a time.
class TraceInput {
 public:
  /// Errors: as of().
  static Result<TraceInput> open(const std::filesystem::path& file, const ReadLimits& limits = {});

  /// `scratch`: an empty file to unpack into, open for reading and writing; nothing: one is made where it is needed.
  /// Once this returns and there is a scratch, reading opens nothing any more.
  /// Errors: empty_upload, malformed_trace (damaged before its first byte), trace_too_large, io_failed.
  static Result<TraceInput> of(File file, std::optional<File> scratch, const ReadLimits& limits = {});

  TraceInput(TraceInput&&) noexcept;
  TraceInput& operator=(TraceInput&&) noexcept;
  ~TraceInput();

  /// The first inflated bytes, up to head_bytes_max.
  [[nodiscard]] std::string_view head() const { return head_; }
  [[nodiscard]] Compression compression() const { return compression_; }
  [[nodiscard]] const ReadLimits& limits() const { return limits_; }
  /// Where it was opened; empty: it came as a descriptor.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// All inflated bytes from the first on. Can be read once.
  ByteSource& bytes() { return *source_; }

  /// All inflated bytes as one text, cut behind `bytes_max`. Errors: those of ByteSource::read.
  Result<std::string> text(std::size_t bytes_max);

  /// The descriptor of a file with the inflated bytes, for readers that seek: the file itself, or the scratch with
  /// everything unpacked into it. Lives as long as this object. Errors: those of ByteSource::read, disk_full.
  Result<int> file_to_seek_in();

  /// Units:  bytes as they came, compressed or not. Cost: where they come through a pipe, it is read to its end.
  /// Errors: io_failed.
  Result<std::uint64_t> size_as_sent();

 private:
  TraceInput();

  std::filesystem::path path_;
  ReadLimits limits_;
  std::unique_ptr<ByteSource> source_;
  int descriptor_ = -1;  ///< the source's
  std::optional<std::uint64_t> size_;
  std::optional<File> scratch_;
  std::string head_;
  Compression compression_{};
};

}  // namespace traceweir::ingest
