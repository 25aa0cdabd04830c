// For: what every kind of byte source is made of: draining, the quota of inflated bytes.
// Not for: users of byte sources (inflate.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "analyzer/core/error.hpp"
#include "analyzer/ingest/gzip_member.hpp"
#include "analyzer/ingest/inflate.hpp"
#include "analyzer/ingest/open_file.hpp"

namespace traceweir::ingest {

/// How much of the compressed file is read at a time.
inline constexpr std::size_t input_bytes = std::size_t{128} << 10;

/// Reads to the end of the file and gives its size. Errors: io_failed.
Result<std::uint64_t> drained(File& file);

/// Counts what comes out over all members of a file and refuses what is beyond the limits.
class Quota {
 public:
  explicit Quota(const ReadLimits& limits) : limits_(limits) {}

  /// `inflated` more bytes came out, after `compressed` bytes went in so far. Errors: trace_too_large.
  Result<void> spend(std::size_t inflated, std::uint64_t compressed);

 private:
  ReadLimits limits_;
  std::uint64_t inflated_ = 0;
};

/// How far a source has come.
struct Progress {
  bool ended = false;
  std::optional<Error> failure;
};

/// Calls `step` (which inflates some bytes into what it is given) until `buffer` is full, the source has ended or
/// failed. What was inflated before a damage is handed out first; the failure comes with the next call. Errors: those
/// of `step`.
template <typename Step>
Result<std::size_t> fill(std::span<char> buffer, Progress& progress, Step step) {
  std::size_t filled = 0;
  while (filled < buffer.size() && !progress.ended && !progress.failure)
    if (auto got = step(buffer.subspan(filled)); got)
      filled += *got;
    else
      progress.failure = std::move(got).error();
  if (filled == 0 && progress.failure) return tl::unexpected<Error>(*progress.failure);
  return filled;
}

/// Members of gzip one after another, as one stream of bytes. `member` inflates them; nothing: there was no memory.
/// Errors: io_failed (no memory).
Result<std::unique_ptr<ByteSource>> gzip_source(File file, const ReadLimits& limits,
                                                std::unique_ptr<GzipMember> member);

/// Frames of zstd one after another, as one stream of bytes.
/// Errors: io_failed (no memory).
Result<std::unique_ptr<ByteSource>> zstd_source(File file, const ReadLimits& limits);

}  // namespace traceweir::ingest
