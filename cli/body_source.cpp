#include "cli/body_source.hpp"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "analyzer/core/assert.hpp"

namespace traceweir::cli {
namespace {

/// Below this a compressed body saves no time that anybody would notice.
constexpr std::uint64_t packed_bytes_min = 16 * 1024;
constexpr std::size_t piece_bytes = 256 * 1024;
/// Fast enough for any network: JSON of traces becomes a tenth at some 300 MB/s.
constexpr int zstd_level = 3;

class FileBody final : public BodySource {
 public:
  FileBody(std::string name, std::uint64_t bytes)
      : name_(std::move(name)), file_(name_, std::ios::binary), bytes_(bytes) {}

  Result<std::size_t> read(std::span<char> into) override {
    const auto wanted = static_cast<std::streamsize>(std::min<std::uint64_t>(into.size(), bytes_ - done_));
    file_.read(into.data(), wanted);
    if (file_.gcount() != wanted)
      return fail(ErrorCode::io_failed, name_ + ": cannot be read, or became shorter while it was sent");
    done_ += static_cast<std::uint64_t>(wanted);
    return static_cast<std::size_t>(wanted);
  }
  [[nodiscard]] std::optional<std::uint64_t> length() const override { return bytes_; }
  [[nodiscard]] std::uint64_t done() const override { return done_; }
  [[nodiscard]] std::uint64_t total() const override { return bytes_; }

 private:
  std::string name_;
  std::ifstream file_;
  std::uint64_t bytes_, done_ = 0;
};

class TextBody final : public BodySource {
 public:
  explicit TextBody(const std::string& text) : text_(text) {}

  Result<std::size_t> read(std::span<char> into) override {
    const std::size_t count = std::min(into.size(), text_.size() - done_);
    std::copy_n(text_.data() + done_, count, into.data());
    done_ += count;
    return count;
  }
  [[nodiscard]] std::optional<std::uint64_t> length() const override { return text_.size(); }
  [[nodiscard]] std::uint64_t done() const override { return done_; }
  [[nodiscard]] std::uint64_t total() const override { return text_.size(); }

 private:
  const std::string& text_;
  std::size_t done_ = 0;
};

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

/// One zstd frame with a checksum: a byte that is lost on the way is noticed where it is unpacked.
class ZstdBody final : public BodySource {
 public:
  explicit ZstdBody(std::unique_ptr<BodySource> from)
      : from_(std::move(from)), context_(ZSTD_createCCtx()), piece_(piece_bytes) {
    TRACEWEIR_ASSERT(context_ != nullptr);
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, zstd_level);
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
    ZSTD_CCtx_setPledgedSrcSize(context_.get(), from_->total());
  }

  Result<std::size_t> read(std::span<char> into) override {
    ZSTD_outBuffer out{into.data(), into.size(), 0};
    while (out.pos < out.size && !ended_) {
      if (in_.pos == in_.size && !last_) TRACEWEIR_TRY_VOID(refill());
      const std::size_t left = ZSTD_compressStream2(context_.get(), &out, &in_, last_ ? ZSTD_e_end : ZSTD_e_continue);
      if (ZSTD_isError(left) != 0) return fail(ErrorCode::io_failed, fmt::format("zstd: {}", ZSTD_getErrorName(left)));
      ended_ = last_ && left == 0;
    }
    return out.pos;
  }
  [[nodiscard]] std::optional<std::uint64_t> length() const override { return std::nullopt; }
  [[nodiscard]] std::uint64_t done() const override { return from_->done(); }
  [[nodiscard]] std::uint64_t total() const override { return from_->total(); }

 private:
  Result<void> refill() {
    TRACEWEIR_TRY(count, from_->read(piece_));
    in_ = {piece_.data(), count, 0};
    last_ = from_->done() == from_->total();
    return {};
  }

  std::unique_ptr<BodySource> from_;
  std::unique_ptr<ZSTD_CCtx, FreeContext> context_;
  std::vector<char> piece_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  bool last_ = false, ended_ = false;
};

}  // namespace

Result<std::unique_ptr<BodySource>> body_source(const BodyOf& of) {
  std::unique_ptr<BodySource> source;
  if (of.file.empty()) {
    source = std::make_unique<TextBody>(of.text);
  } else {
    std::error_code error;
    const std::uint64_t bytes = std::filesystem::file_size(of.file, error);
    if (error) return fail(ErrorCode::io_failed, fmt::format("{}: {}", of.file, error.message()));
    source = std::make_unique<FileBody>(of.file, bytes);
  }
  if (of.packing == Packing::zstd) source = std::make_unique<ZstdBody>(std::move(source));
  return source;
}

Packing packing_of(std::string_view head, std::uint64_t bytes) {
  using namespace std::string_view_literals;
  for (const std::string_view magic : {"\x1f\x8b"sv, "\x28\xb5\x2f\xfd"sv})
    if (head.starts_with(magic)) return Packing::as_is;
  return bytes < packed_bytes_min ? Packing::as_is : Packing::zstd;
}

Result<Packing> packing_of_file(const std::string& file) {
  std::error_code error;
  const std::uint64_t bytes = std::filesystem::file_size(file, error);
  std::ifstream in(file, std::ios::binary);
  if (error || !in) return fail(ErrorCode::io_failed, file + ": cannot be opened");
  std::string head(4, '\0');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(in.gcount()));
  return packing_of(head, bytes);
}

}  // namespace traceweir::cli
