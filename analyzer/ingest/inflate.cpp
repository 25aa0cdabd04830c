#include "analyzer/ingest/inflate.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "analyzer/core/assert.hpp"
#include "analyzer/core/words.hpp"
#include "analyzer/ingest/inflate_parts.hpp"

namespace traceweir::ingest {
namespace {

constexpr Word<Compression> compression_words[] = {
    {Compression::none, "none"}, {Compression::gzip, "gzip"}, {Compression::zstd, "zstd"}};

/// A file as it is.
class PlainSource final : public ByteSource {
 public:
  PlainSource(File file, const ReadLimits& limits) : file_(std::move(file)), quota_(limits) {}

  Result<std::size_t> read(std::span<char> buffer) override {
    TRACEWEIR_TRY(got, file_.read(buffer));
    bytes_ += got;
    TRACEWEIR_TRY_VOID(quota_.spend(got, bytes_));
    return got;
  }

  Result<std::uint64_t> drain() override { return drained(file_); }

 private:
  File file_;
  Quota quota_;
  std::uint64_t bytes_ = 0;
};

/// Members of gzip one after another, as one stream of bytes.
class GzipSource final : public ByteSource {
 public:
  GzipSource(File file, const ReadLimits& limits) : file_(std::move(file)), quota_(limits), input_(input_bytes) {
    constexpr int gzip_only = 16 + MAX_WBITS;
    const int status = ::inflateInit2(&stream_, gzip_only);
    TRACEWEIR_ASSERT(status == Z_OK || status == Z_MEM_ERROR);
    if (status == Z_MEM_ERROR) progress_.failure = Error{ErrorCode::io_failed, "no memory to inflate the trace"};
  }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;
  ~GzipSource() override { ::inflateEnd(&stream_); }

  Result<std::size_t> read(std::span<char> buffer) override {
    return fill(buffer, progress_, [this](std::span<char> room) { return step(room); });
  }

  [[nodiscard]] Compression compression() const override { return Compression::gzip; }
  Result<std::uint64_t> drain() override { return drained(file_); }

 private:
  /// Inflates some bytes into `buffer`; 0 at the end and between members.
  Result<std::size_t> step(std::span<char> buffer) {
    TRACEWEIR_TRY(more, refill());
    if (!more && between_members_) return progress_.ended = true, 0U;
    if (!more)
      return fail(ErrorCode::malformed_trace, fmt::format("the gzip data are cut at compressed byte {}", compressed_));
    if (between_members_) return begin_member();
    return inflate_into(buffer);
  }

  /// Whether there is input, after reading some if there was none.
  Result<bool> refill() {
    if (stream_.avail_in > 0) return true;
    TRACEWEIR_TRY(got, file_.read(input_));
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(got);
    return got > 0;
  }

  /// Starts the next member, or skips one byte of the zeros with which tapes and block devices pad a file.
  Result<std::size_t> begin_member() {
    if (*stream_.next_in == 0) {
      ++stream_.next_in, --stream_.avail_in, ++compressed_;
      padded_ = true;
      return 0U;
    }
    if (padded_ || *stream_.next_in != 0x1F)
      return fail(ErrorCode::malformed_trace,
                  fmt::format("what follows the gzip data at compressed byte {} is no gzip", compressed_));
    ::inflateReset(&stream_);
    between_members_ = false;
    return 0U;
  }

  Result<std::size_t> inflate_into(std::span<char> buffer) {
    const auto room = static_cast<uInt>(std::min<std::size_t>(buffer.size(), std::size_t{1} << 30));
    const uInt before = stream_.avail_in;
    stream_.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream_.avail_out = room;
    const int status = ::inflate(&stream_, Z_NO_FLUSH);
    compressed_ += before - stream_.avail_in;
    const std::size_t got = room - stream_.avail_out;
    TRACEWEIR_TRY_VOID(quota_.spend(got, compressed_));
    if (status == Z_STREAM_END) {
      between_members_ = true;
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      // zlib has written what it could before it met the damage.
      progress_.failure = Error{ErrorCode::malformed_trace,
                                fmt::format("the gzip data are damaged at compressed byte {}: {}", compressed_,
                                            stream_.msg != nullptr ? stream_.msg : "unknown damage")};
    }
    return got;
  }

  File file_;
  Quota quota_;
  std::vector<char> input_;
  z_stream stream_{};
  std::uint64_t compressed_ = 0;
  bool between_members_ = false;
  bool padded_ = false;
  Progress progress_;
};

}  // namespace

std::string_view word(Compression compression) { return word_of(compression_words, compression); }

Compression compression_of(std::string_view head) {
  if (head.starts_with("\x1F\x8B")) return Compression::gzip;
  if (head.starts_with("\x28\xB5\x2F\xFD")) return Compression::zstd;
  return Compression::none;
}

Result<std::unique_ptr<ByteSource>> open_bytes(const std::filesystem::path& file, const ReadLimits& limits) {
  TRACEWEIR_TRY(opened, File::open(file));
  return open_bytes(std::move(opened), limits);
}

Result<std::unique_ptr<ByteSource>> open_bytes(File file, const ReadLimits& limits) {
  constexpr std::size_t magic_bytes = 4;
  TRACEWEIR_TRY(head, file.peek(magic_bytes));
  switch (compression_of(head)) {
    case Compression::none:
      return std::make_unique<PlainSource>(std::move(file), limits);
    case Compression::gzip:
      return std::make_unique<GzipSource>(std::move(file), limits);
    case Compression::zstd:
      return zstd_source(std::move(file), limits);
  }
  return fail(ErrorCode::unsupported_format, "a compression that we do not know");
}

}  // namespace traceweir::ingest
