#include "analyzer/ingest/kineto_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <thread>
#include <utility>

#include "analyzer/ingest/kineto_batches.hpp"
#include "analyzer/ingest/kineto_document.hpp"
#include "analyzer/ingest/kineto_event.hpp"
#include "analyzer/ingest/kineto_header.hpp"
#include "analyzer/ingest/kineto_rows.hpp"
#include "analyzer/ingest/kineto_window.hpp"

namespace traceweir::ingest {
namespace {

/// Beyond so many, threads wait for the one that reads.
constexpr std::size_t threads_max = 8;

std::size_t threads_of(const ReadLimits& limits) {
  if (limits.threads > 0) return limits.threads;
  return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, threads_max);
}

/// 48 MiB: half a tenth of a second. Before that a further thread costs more than it saves: its core is cold, and it is
/// some time before it has one.
constexpr std::size_t batches_alone = 96;

/// The reader of one document: batches go to the parsers, keys to the header, events to the rows.
class Reading final : public DocumentSink, public BatchSink {
 public:
  Reading(std::size_t threads, std::size_t alone) : line_(threads, *this, alone) {}

  [[nodiscard]] bool wants(std::string_view key) const override { return KinetoHeader::wants(key); }

  void member(std::string_view key, std::span<char> value, std::uint64_t position) override {
    if (header_.take(key, {value.data(), value.size()})) return;
    rows_.invalid(position, fmt::format("the value of \"{}\" cannot be read", key), EventSink::Repair::dropped);
  }

  Result<void> batches(BatchSource& source) override { return line_.run(source); }

  void event(const Event& event) override { rows_.event(event); }
  void invalid(std::uint64_t position, std::string_view why, Repair repair) override {
    rows_.invalid(position, why, repair);
  }

  Result<void> batch_ends(const EventCounts& counts, std::uint64_t position) override {
    counts_.add(counts);
    if (counts_.objects == 0 && counts_.others > 0)
      return fail(ErrorCode::not_a_trace, fmt::format("the JSON array at byte {} holds no events but other values; a "
                                                      "trace of the PyTorch profiler is an array of objects",
                                                      position));
    return {};
  }

  /// Errors: not_a_trace, malformed_trace.
  Result<timeline::Timeline> finish(const DocumentShape& shape) && {
    TRACEWEIR_TRY_VOID(check(shape));
    if (shape.cut) rows_.note(FindingCode::truncated, *shape.cut);
    if (shape.missing_commas > 0)
      rows_.note(FindingCode::invalid_text, "no comma between two events", shape.missing_commas);
    for (const std::string& key : shape.passed_over)
      rows_.note(FindingCode::invalid_text, fmt::format("the value of \"{}\" is too large", key));
    return std::move(rows_).finish(header_);
  }

 private:
  Result<void> check(const DocumentShape& shape) const {
    const EventCounts& counts = counts_;
    if (shape.cut && counts.objects == 0)
      return fail(ErrorCode::malformed_trace, fmt::format("{}, before the first whole event", *shape.cut));
    if (!shape.bare_array && !shape.has_events)
      return fail(ErrorCode::not_a_trace,
                  fmt::format("a JSON object without \"traceEvents\" (its keys: {})", fmt::join(shape.keys, ", ")));
    if (shape.bare_array && counts.phases == 0)
      return fail(ErrorCode::not_a_trace, "a JSON array whose elements have neither \"ph\" nor \"cat\": no trace");
    const bool foreign = counts.of_kineto == 0 && counts.phases > 0 && header_.empty();
    if (foreign)
      return fail(ErrorCode::not_a_trace,
                  "events of another tracer (a browser, Perfetto, TensorFlow, …): no row has a category of the PyTorch "
                  "profiler; record the job with torch.profiler and export_chrome_trace");
    TRACEWEIR_TRY_VOID(check_readable());
    if (shape.second_document)
      return fail(ErrorCode::malformed_trace,
                  fmt::format("byte {}: something follows the end of the trace; if several ranks were written to one "
                              "file, upload one file per rank",
                              *shape.second_document));
    return {};
  }

  /// A file without one event that can be read says nothing, not even that no GPU was used.
  [[nodiscard]] Result<void> check_readable() const {
    const EventCounts& counts = counts_;
    if (rows_.has_readable() || counts.passed_over > 0) return {};
    return fail(
        counts.of_kineto > 0 ? ErrorCode::malformed_trace : ErrorCode::not_a_trace,
        fmt::format("the trace holds no event that can be read ({} objects in its array of events)", counts.objects));
  }

  KinetoHeader header_;
  KinetoRows rows_;
  EventCounts counts_;
  BatchLine line_;
};

}  // namespace

Result<timeline::Timeline> read_kineto(ByteSource& source, std::size_t threads, std::size_t alone) {
  TextWindow window(source);
  Reading reading(threads, alone);
  TRACEWEIR_TRY(shape, walk_document(window, reading));
  return std::move(reading).finish(shape);
}

Result<std::vector<timeline::Timeline>> read_kineto_json(TraceInput& input) {
  TRACEWEIR_TRY(rank, read_kineto(input.bytes(), threads_of(input.limits()), batches_alone));
  std::vector<timeline::Timeline> ranks;
  ranks.push_back(std::move(rank));
  return ranks;
}

}  // namespace traceweir::ingest
