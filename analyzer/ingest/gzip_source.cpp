#include <fmt/format.h>

#include <span>
#include <utility>
#include <vector>

#include "analyzer/ingest/inflate_parts.hpp"

namespace traceweir::ingest {
namespace {

/// Members of gzip one after another, as one stream of bytes.
class GzipSource final : public ByteSource {
 public:
  GzipSource(File file, const ReadLimits& limits, std::unique_ptr<GzipMember> member)
      : file_(std::move(file)), quota_(limits), buffer_(input_bytes), member_(std::move(member)) {}

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
    if (more && between_members_) return begin_member();
    TRACEWEIR_TRY(given, inflate_into(buffer));  // without input: what the library has kept back
    if (!more && given == 0 && !between_members_ && !progress_.failure)
      return fail(ErrorCode::malformed_trace, fmt::format("the gzip data are cut at compressed byte {}", compressed_));
    return given;
  }

  /// Whether there is input, after reading some if there was none.
  Result<bool> refill() {
    if (!input_.empty()) return true;
    TRACEWEIR_TRY(got, file_.read(buffer_));
    input_ = std::span(buffer_).first(got);
    return got > 0;
  }

  void take(std::size_t bytes) {
    input_ = input_.subspan(bytes);
    compressed_ += bytes;
  }

  /// Starts the next member, or skips one byte of the zeros with which tapes and block devices pad a file.
  Result<std::size_t> begin_member() {
    if (input_.front() == '\0') {
      take(1);
      padded_ = true;
      return 0U;
    }
    if (padded_ || input_.front() != '\x1F')
      return fail(ErrorCode::malformed_trace,
                  fmt::format("what follows the gzip data at compressed byte {} is no gzip", compressed_));
    member_->begin();
    between_members_ = false;
    return 0U;
  }

  Result<std::size_t> inflate_into(std::span<char> buffer) {
    const GzipMember::Step step = member_->inflate(input_, buffer);
    take(step.taken);
    TRACEWEIR_TRY_VOID(quota_.spend(step.given, compressed_));
    between_members_ = step.state == GzipMember::State::whole;
    if (step.state == GzipMember::State::damaged) {
      // What could be inflated before the damage is handed out first.
      progress_.failure =
          Error{ErrorCode::malformed_trace,
                fmt::format("the gzip data are damaged at compressed byte {}: {}", compressed_, step.why)};
    }
    return step.given;
  }

  File file_;
  Quota quota_;
  std::vector<char> buffer_;
  std::span<const char> input_;  ///< of the buffer, not inflated yet
  std::unique_ptr<GzipMember> member_;
  std::uint64_t compressed_ = 0;
  bool between_members_ = true;
  bool padded_ = false;
  Progress progress_;
};

}  // namespace

std::unique_ptr<GzipMember> fastest_gzip_member() {
  if (auto member = gzip_member_of_isal()) return member;
  return gzip_member_of_zlib();
}

Result<std::unique_ptr<ByteSource>> gzip_source(File file, const ReadLimits& limits,
                                                std::unique_ptr<GzipMember> member) {
  if (member == nullptr) return fail(ErrorCode::io_failed, "no memory to inflate the trace");
  return std::make_unique<GzipSource>(std::move(file), limits, std::move(member));
}

}  // namespace traceweir::ingest
