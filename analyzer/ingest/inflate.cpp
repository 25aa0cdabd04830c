#include "analyzer/ingest/inflate.hpp"

#include <fmt/format.h>

#include <utility>

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
      return gzip_source(std::move(file), limits, fastest_gzip_member());
    case Compression::zstd:
      return zstd_source(std::move(file), limits);
  }
  return fail(ErrorCode::unsupported_format, "a compression that we do not know");
}

}  // namespace traceweir::ingest
