#include "analyzer/ingest/ingest.hpp"

#include "analyzer/ingest/format_table.hpp"
#include "analyzer/ingest/sniff.hpp"
#include "analyzer/ingest/trace_input.hpp"

namespace traceweir::ingest {

Result<std::vector<timeline::Timeline>> read_trace(const std::filesystem::path& file, const ReadLimits& limits) {
  TRACEWEIR_TRY(input, TraceInput::open(file, limits));
  return read_trace(input);
}

Result<std::vector<timeline::Timeline>> read_trace(TraceInput& input) {
  for (const Format& format : formats()) {
    if (!format.matches(input.head())) continue;
    TRACEWEIR_TRY(ranks, format.read(input));
    TRACEWEIR_TRY(bytes, input.size_as_sent());
    for (timeline::Timeline& rank : ranks) {
      if (rank.source.format.empty()) rank.source.format = format.name;
      rank.source.compression = word(input.compression());
      rank.source.bytes = static_cast<std::int64_t>(bytes);
    }
    return std::move(ranks);
  }
  return tl::unexpected(refusal_of(input.head()));
}

}  // namespace traceweir::ingest
