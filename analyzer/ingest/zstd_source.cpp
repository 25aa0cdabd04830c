#include <fmt/format.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <memory>
#include <utility>
#include <vector>

#include "analyzer/ingest/inflate_parts.hpp"

namespace traceweir::ingest {
namespace {

/// The largest window that a frame may ask for (32 MiB): a frame of 92 kB can ask for 128 MiB and more of our memory.
constexpr int window_log_max = 25;

struct FreeStream {
  void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
};
using Stream = std::unique_ptr<ZSTD_DStream, FreeStream>;

class ZstdSource final : public ByteSource {
 public:
  ZstdSource(File file, Stream stream, const ReadLimits& limits)
      : file_(std::move(file)), stream_(std::move(stream)), quota_(limits), input_(input_bytes) {}

  Result<std::size_t> read(std::span<char> buffer) override {
    return fill(buffer, progress_, [this](std::span<char> room) { return step(room); });
  }

  [[nodiscard]] Compression compression() const override { return Compression::zstd; }
  Result<std::uint64_t> drain() override { return drained(file_); }

 private:
  /// Inflates some bytes into `buffer`; 0 at the end and between frames.
  Result<std::size_t> step(std::span<char> buffer) {
    if (in_.pos == in_.size) {
      TRACEWEIR_TRY(got, file_.read(input_));
      in_ = {input_.data(), got, 0};
      if (got == 0) return end();
    }
    ZSTD_outBuffer out{buffer.data(), buffer.size(), 0};
    const std::size_t before = in_.pos;
    const std::size_t status = ZSTD_decompressStream(stream_.get(), &out, &in_);
    compressed_ += in_.pos - before;
    TRACEWEIR_TRY_VOID(quota_.spend(out.pos, compressed_));
    if (ZSTD_getErrorCode(status) == ZSTD_error_frameParameter_windowTooLarge)
      return fail(ErrorCode::trace_too_large,
                  fmt::format("a zstd frame wants a window of more than {} MiB (zstd_window_bytes_max); compress with "
                              "zstd --long={} or less",
                              (std::size_t{1} << window_log_max) >> 20U, window_log_max));
    if (ZSTD_isError(status) != 0)
      return fail(ErrorCode::malformed_trace, fmt::format("the zstd data are damaged at compressed byte {}: {}",
                                                          compressed_, ZSTD_getErrorName(status)));
    between_frames_ = status == 0;
    return out.pos;
  }

  Result<std::size_t> end() {
    if (!between_frames_)
      return fail(ErrorCode::malformed_trace, fmt::format("the zstd data are cut at compressed byte {}", compressed_));
    progress_.ended = true;
    return 0U;
  }

  File file_;
  Stream stream_;
  Quota quota_;
  std::vector<char> input_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  std::uint64_t compressed_ = 0;
  bool between_frames_ = false;
  Progress progress_;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> zstd_source(File file, const ReadLimits& limits) {
  Stream stream(ZSTD_createDStream());
  if (stream == nullptr) return fail(ErrorCode::io_failed, "no memory to inflate the trace");
  ZSTD_DCtx_setParameter(stream.get(), ZSTD_d_windowLogMax, window_log_max);
  return std::make_unique<ZstdSource>(std::move(file), std::move(stream), limits);
}

}  // namespace traceweir::ingest
