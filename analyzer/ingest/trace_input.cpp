#include "analyzer/ingest/trace_input.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace traceweir::ingest {
namespace {

constexpr std::size_t copy_bytes = std::size_t{256} << 10;

/// The first bytes; those before a damage, where there are any: the reader meets it again and says what it loses.
/// Errors: io_failed, malformed_trace, trace_too_large.
Result<std::string> first_bytes(ByteSource& source) {
  std::string head(head_bytes_max, '\0');
  std::size_t filled = 0;
  while (filled < head.size()) {
    const auto got = source.read(std::span(head).subspan(filled));
    if (!got && filled == 0) return tl::unexpected(got.error());
    if (!got || *got == 0) break;
    filled += *got;
  }
  head.resize(filled);
  return head;
}

/// A source whose first bytes were looked at: it gives them again.
class FromTheFirst final : public ByteSource {
 public:
  FromTheFirst(std::string head, std::unique_ptr<ByteSource> rest) : head_(std::move(head)), rest_(std::move(rest)) {}

  Result<std::size_t> read(std::span<char> buffer) override {
    if (given_ == head_.size()) return rest_->read(buffer);
    const std::size_t count = std::min(buffer.size(), head_.size() - given_);
    std::copy_n(head_.data() + given_, count, buffer.begin());
    given_ += count;
    return count;
  }
  [[nodiscard]] Compression compression() const override { return rest_->compression(); }
  Result<std::uint64_t> drain() override { return rest_->drain(); }

 private:
  std::string head_;
  std::size_t given_ = 0;
  std::unique_ptr<ByteSource> rest_;
};

}  // namespace

TraceInput::TraceInput() = default;
TraceInput::TraceInput(TraceInput&&) noexcept = default;
TraceInput& TraceInput::operator=(TraceInput&&) noexcept = default;
TraceInput::~TraceInput() = default;

Result<TraceInput> TraceInput::open(const std::filesystem::path& file, const ReadLimits& limits) {
  TRACEWEIR_TRY(opened, File::open(file));
  TRACEWEIR_TRY(input, of(std::move(opened), std::nullopt, limits));
  input.path_ = file;
  return std::move(input);
}

Result<TraceInput> TraceInput::of(File file, std::optional<File> scratch, const ReadLimits& limits) {
  TraceInput input;
  TRACEWEIR_TRY(size, file.size());
  if (size == 0U) return fail(ErrorCode::empty_upload, "the file is empty");
  input.size_ = size;
  input.limits_ = limits;
  input.descriptor_ = file.descriptor();
  input.scratch_ = std::move(scratch);
  TRACEWEIR_TRY(source, open_bytes(std::move(file), limits));
  TRACEWEIR_TRY(head, first_bytes(*source));
  input.compression_ = source->compression();
  if (head.empty() && input.compression_ == Compression::none)
    return fail(ErrorCode::empty_upload, "the file is empty");
  if (head.empty()) return fail(ErrorCode::empty_upload, "the file is empty after decompression");
  input.head_ = head;
  input.source_ = std::make_unique<FromTheFirst>(std::move(head), std::move(source));
  return input;
}

Result<std::string> TraceInput::text(std::size_t bytes_max) {
  std::string text;
  std::vector<char> buffer(copy_bytes);
  while (text.size() <= bytes_max) {
    TRACEWEIR_TRY(got, source_->read(buffer));
    if (got == 0) break;
    text.append(buffer.data(), got);
  }
  if (text.size() > bytes_max) text.resize(bytes_max);
  return text;
}

Result<int> TraceInput::file_to_seek_in() {
  if (compression_ == Compression::none && size_) return descriptor_;
  if (!scratch_) {
    TRACEWEIR_TRY(made, File::temporary());
    scratch_ = std::move(made);
  }
  std::vector<char> buffer(copy_bytes);
  for (;;) {
    TRACEWEIR_TRY(got, source_->read(buffer));
    if (got == 0) return scratch_->descriptor();
    TRACEWEIR_TRY_VOID(scratch_->write({buffer.data(), got}));
  }
}

Result<std::uint64_t> TraceInput::size_as_sent() {
  if (size_) return *size_;
  return source_->drain();
}

}  // namespace traceweir::ingest
