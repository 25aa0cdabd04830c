#include "analyzer/ingest/ingest.hpp"

#include <fmt/format.h>

#include <string>
#include <system_error>

#include "analyzer/ingest/format_table.hpp"
#include "analyzer/ingest/inflate.hpp"
#include "analyzer/ingest/sniff.hpp"

namespace traceweir::ingest {
namespace {

/// Errors: io_failed (no file that can be read), empty_upload.
Result<std::uint64_t> size_of(const std::filesystem::path& file) {
  std::error_code error;
  const bool regular = std::filesystem::is_regular_file(file, error);
  if (!regular) return fail(ErrorCode::io_failed, "the trace is no file that can be read");
  const std::uintmax_t bytes = std::filesystem::file_size(file, error);
  if (error) return fail(ErrorCode::io_failed, fmt::format("cannot read the trace: {}", error.message()));
  if (bytes == 0) return fail(ErrorCode::empty_upload, "the file is empty");
  return bytes;
}

/// The first bytes of a file; those before a damage, where there are any: the reader meets it again and says what it
/// loses. Errors: io_failed, malformed_trace, trace_too_large.
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

}  // namespace

Result<std::vector<timeline::Timeline>> read_trace(const std::filesystem::path& file, const ReadLimits& limits) {
  TRACEWEIR_TRY(bytes, size_of(file));
  TRACEWEIR_TRY(source, open_bytes(file, limits));
  TRACEWEIR_TRY(head, first_bytes(*source));
  if (head.empty()) return fail(ErrorCode::empty_upload, "the file is empty after decompression");
  const TraceFile trace{file, bytes, source->compression(), head};
  source.reset();

  for (const Format& format : formats()) {
    if (!format.matches(head)) continue;
    TRACEWEIR_TRY(ranks, format.read(trace, limits));
    for (timeline::Timeline& rank : ranks) {
      rank.source.format = format.name;
      rank.source.compression = word(trace.compression);
      rank.source.bytes = static_cast<std::int64_t>(bytes);
    }
    return std::move(ranks);
  }
  return tl::unexpected(refusal_of(head));
}

}  // namespace traceweir::ingest
