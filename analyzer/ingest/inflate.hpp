// For: bytes of a file, decompressed on the way, with limits counted over all members.
// Not for: what the bytes mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "analyzer/core/error.hpp"
#include "analyzer/ingest/ingest.hpp"
#include "analyzer/ingest/open_file.hpp"

namespace traceweir::ingest {

enum class Compression { none, gzip, zstd };
std::string_view word(Compression compression);

/// Told by the first bytes alone.
Compression compression_of(std::string_view head);

/// A file's bytes in order, inflated where it is gzip or zstd (any number of members or frames).
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  /// Fills as much of `buffer` as there is. 0: the end.
  /// Errors: malformed_trace (a damaged member; what was read before stays valid), trace_too_large, io_failed.
  virtual Result<std::size_t> read(std::span<char> buffer) = 0;

  /// The outer layer of the file that this source takes off.
  [[nodiscard]] virtual Compression compression() const { return Compression::none; }

  /// Reads the file behind this source to its end, whatever the bytes are worth, and gives its size.
  /// Units:  bytes, compressed or not as they came; 0 where there is no file behind it. Errors: io_failed.
  virtual Result<std::uint64_t> drain() { return 0U; }
};

/// Errors: io_failed.
Result<std::unique_ptr<ByteSource>> open_bytes(File file, const ReadLimits& limits);
/// Errors: io_failed.
Result<std::unique_ptr<ByteSource>> open_bytes(const std::filesystem::path& file, const ReadLimits& limits);

}  // namespace traceweir::ingest
