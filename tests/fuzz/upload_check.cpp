#include "tests/fuzz/upload_check.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "analyzer/core/assert.hpp"
#include "analyzer/core/text.hpp"
#include "tests/fuzz/memory_file.hpp"

namespace traceweir::fuzz {
namespace {

using timeline::Timeline;

// Small, so that what grows without end meets them soon.
constexpr std::uint64_t inflated_bytes_max = std::uint64_t{32} << 20;
constexpr std::size_t refusal_bytes_max = 4096;

template <typename Spans>
bool by_begin(const Spans& spans) {
  return std::is_sorted(spans.begin(), spans.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
}

/// What timeline.hpp promises to whoever measures.
void check_timeline(const Timeline& rank) {
  for (const timeline::Work& work : rank.work) {
    TRACEWEIR_ASSERT(work.begin <= work.end);
    TRACEWEIR_ASSERT(static_cast<std::size_t>(work.device) < rank.devices.size());
    TRACEWEIR_ASSERT(static_cast<std::size_t>(work.name) < rank.names.size());
    TRACEWEIR_ASSERT(work.call == timeline::none || work.call < rank.calls.size());
    TRACEWEIR_ASSERT(work.message == timeline::none || work.message < rank.messages.size());
  }
  for (const timeline::Call& call : rank.calls) {
    TRACEWEIR_ASSERT(call.begin <= call.end && static_cast<std::size_t>(call.name) < rank.names.size());
    TRACEWEIR_ASSERT(static_cast<std::uint32_t>(call.thread) < rank.thread_count);
  }
  for (const timeline::Range& range : rank.ranges) {
    TRACEWEIR_ASSERT(range.begin <= range.end && static_cast<std::size_t>(range.name.form) < rank.names.size());
    TRACEWEIR_ASSERT(static_cast<std::uint32_t>(range.thread) < rank.thread_count);
  }
  TRACEWEIR_ASSERT(by_begin(rank.work) && by_begin(rank.calls));
  for (const std::string& name : rank.names) TRACEWEIR_ASSERT(is_utf8(name));
}

report::TraceFacts facts_of(const Timeline& rank) {
  return {rank.source.format, rank.source.compression, rank.source.bytes, {}, rank.source.producer, "fuzz"};
}

/// Errors: usage (ranks that cannot be one run).
Result<report::Report> report_of(const std::vector<Timeline>& ranks) {
  std::vector<report::TraceFacts> facts;
  for (const Timeline& rank : ranks) facts.push_back(facts_of(rank));
  return report::report_of(ranks, facts);
}

}  // namespace

void check_refusal(const Error& error) {
  TRACEWEIR_ASSERT(!error.message.empty() && error.message.size() <= refusal_bytes_max);
  TRACEWEIR_ASSERT(is_utf8(error.message) && clean_text(error.message, refusal_bytes_max) == error.message);
}

void check_report(const report::Report& report) {
  const std::string text = to_json(report);
  TRACEWEIR_ASSERT(text.size() <= report::report_bytes_for(report.ranks.size()));
  const auto again = report::from_json(text);
  TRACEWEIR_ASSERT(again.has_value());
  TRACEWEIR_ASSERT(to_json(*again) == text);
  TRACEWEIR_ASSERT(is_utf8(to_table(report, report::Paint::plain)));
  TRACEWEIR_ASSERT(is_utf8(to_markdown(report)));
}

Answer check_upload(std::string_view bytes, const Reader& reader) {
  ingest::ReadLimits limits;
  limits.inflated_bytes_max = inflated_bytes_max;
  auto input = ingest::TraceInput::of(MemoryFile(bytes).file(), MemoryFile().file(), limits);
  if (!input) return check_refusal(input.error()), Answer::refused;
  const auto ranks = reader(*input);
  if (!ranks) return check_refusal(ranks.error()), Answer::refused;
  TRACEWEIR_ASSERT(!ranks->empty());
  for (const Timeline& rank : *ranks) check_timeline(rank);
  const auto report = report_of(*ranks);
  if (!report) return check_refusal(report.error()), Answer::refused;
  check_report(*report);
  return Answer::read;
}

}  // namespace traceweir::fuzz
