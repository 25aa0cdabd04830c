#include "analyzer/ingest/nsys_host.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/ingest/nsys_nccl.hpp"
#include "analyzer/ingest/nsys_payload.hpp"
#include "analyzer/ingest/nsys_schema.hpp"

namespace traceweir::ingest::nsys {
namespace {

// Source: spec of formats, section 1.3.
constexpr std::int64_t backtrace_class = 67;
constexpr std::int64_t push_pop_range = 59;
constexpr std::int64_t start_end_range = 60;
constexpr std::int64_t domain_create = 75;

/// Ranges wait here until the names of all domains are known, which may come after them.
class RangeReader {
 public:
  RangeReader(SqliteFile& file, const Strings& strings, Processes& processes)
      : file_(file), strings_(strings), processes_(processes) {}

  Result<void> read();

 private:
  struct DomainRange {
    Process* process;
    std::int64_t domain;
    timeline::RangeRow range;
    std::optional<NcclRange> nccl;  ///< what it calls, if it is NCCL's
    std::optional<NcclPayload> payload;
    bool named_as_nccl;
  };
  using DomainKey = std::pair<const Process*, std::int64_t>;

  void take(const TableRows& rows);
  void take_range(Process& process, const TableRows& rows, std::string_view text);
  void place(const DomainRange& waiting);

  SqliteFile& file_;
  const Strings& strings_;
  Processes& processes_;
  PayloadSchemas schemas_;
  std::map<DomainKey, std::string> domains_;
  std::vector<DomainRange> waiting_;
};

enum RangeColumn : std::size_t { range_start, range_end, type, text, text_id, global_tid, domain, binary };

Result<void> RangeReader::read() {
  TRACEWEIR_TRY(schemas, PayloadSchemas::read(file_));
  schemas_ = std::move(schemas);
  TRACEWEIR_TRY(
      rows, TableRows::open(file_, nvtx_table,
                            {"start", "end", "eventType", "text", "textId", "globalTid", "domainId", "binaryData"}));
  for (;;) {
    TRACEWEIR_TRY(more, rows.next());
    if (!more) break;
    take(rows);
  }
  for (const DomainRange& range : waiting_) place(range);
  return {};
}

void RangeReader::take(const TableRows& rows) {
  if (rows[type].type != Cell::Type::integer) return processes_.drop(nvtx_table);
  const std::int64_t event = rows[type].integer;
  if (event != push_pop_range && event != start_end_range && event != domain_create) return;
  const auto thread = integer_or(rows[global_tid], 0);
  const auto domain_id = integer_or(rows[domain], 0);
  if (!thread || !domain_id) return processes_.drop(nvtx_table);
  Process* const process = processes_.find(process_of(*thread));
  if (process == nullptr) return;

  // Plain strings are inline; registered ones, as NCCL's, by id.
  const bool is_inline = rows[text].type == Cell::Type::text;
  const std::string_view name = is_inline ? rows[text].text : strings_.text_of(rows[text_id]);
  if (event == domain_create)
    domains_.try_emplace({process, *domain_id}, name);
  else
    take_range(*process, rows, name);
}

void RangeReader::take_range(Process& process, const TableRows& rows, std::string_view name) {
  if (rows[range_start].type == Cell::Type::integer && rows[range_end].type == Cell::Type::null)
    return process.builder.note(FindingCode::open_range, name);
  const auto span = span_of(rows[range_start], rows[range_end]);
  if (!span) return processes_.drop(nvtx_table);
  DomainRange range{
      .process = &process,
      .domain = rows[domain].integer,
      .range = {.span = *span, .thread = rows[global_tid].integer, .name = process.builder.range_name(name)},
      .nccl = nccl_range_of(name, rows[global_tid].integer, *span),
      .payload = {},
      .named_as_nccl = is_nccl_call(name)};
  if (rows[binary].type == Cell::Type::blob) range.payload = schemas_.decode(rows[binary].text);
  if (range.domain != 0)
    waiting_.push_back(range);
  else
    place(range);
}

void RangeReader::place(const DomainRange& waiting) {
  const auto domain_name = domains_.find({waiting.process, waiting.domain});
  const bool named = domain_name != domains_.end() && !domain_name->second.empty();
  const bool is_nccl = named ? domain_name->second == "NCCL" : waiting.named_as_nccl;
  const bool is_framework = waiting.nccl && waiting.nccl->function == NcclFunction::framework;
  if (is_framework) waiting.process->nccl_ranges.push_back(*waiting.nccl);
  if (!is_nccl || is_framework) return waiting.process->builder.add(waiting.range);
  const auto& payload = waiting.payload;
  if (payload && payload->ranks) waiting.process->communicators.try_emplace(payload->communicator, *payload->ranks);
  if (!waiting.nccl) return;
  NcclRange range = *waiting.nccl;
  if (payload && range.function == NcclFunction::collective) {
    range.communicator = payload->communicator;
    range.bytes = payload->bytes.value_or(0);
  }
  waiting.process->nccl_ranges.push_back(range);
}

/// Collectives whose size is the whole buffer of n ranks, where NCCL counts one rank's part.
constexpr timeline::Collective sized_by_part[] = {timeline::Collective::allgather, timeline::Collective::reducescatter,
                                                  timeline::Collective::alltoall};

/// The metadata of a call, or timeline::none where its payload was not exported.
/// Source: spec of formats, section 6.
std::uint32_t message_of(Process& process, const NcclRange& call) {
  if (call.communicator == 0 && call.bytes == 0) return timeline::none;
  const auto ranks = process.communicators.find(call.communicator);
  timeline::Message message;
  message.bytes = call.bytes;
  if (ranks != process.communicators.end()) message.group_size = ranks->second;
  const bool by_part =
      std::find(std::begin(sized_by_part), std::end(sized_by_part), call.kind) != std::end(sized_by_part);
  // Without the number of ranks a part does not tell the whole. Both factors are bounded (nsys_payload).
  if (by_part && call.bytes != 0) message.bytes *= message.group_size;
  message.group = fmt::format("nccl {:016x}", call.communicator);
  return process.builder.message(message);
}

}  // namespace

Result<void> read_calls(SqliteFile& file, const Strings& strings, Processes& processes) {
  enum CallColumn : std::size_t { call_start, call_end, thread_id, correlation_id, name_id, event_class };
  TRACEWEIR_TRY(rows, TableRows::open(file, runtime_table,
                                      {"start", "end", "globalTid", "correlationId", "nameId", "eventClass"}));
  bool any = false;
  for (;;) {
    TRACEWEIR_TRY(more, rows.next());
    if (!more) break;
    any = true;
    if (rows[event_class].type == Cell::Type::integer && rows[event_class].integer == backtrace_class) continue;
    const auto span = span_of(rows[call_start], rows[call_end]);
    const auto thread = integer_or(rows[thread_id], 0);
    const auto correlation = integer_or(rows[correlation_id], 0);
    const std::string_view name = strings.text_of(rows[name_id]);
    if (!span || !thread || !correlation) {
      processes.drop(runtime_table);
      continue;
    }
    Process* const process = processes.find(process_of(*thread));
    if (process == nullptr) continue;
    process->remember_launch(*correlation, *thread, *span);
    process->builder.add(timeline::CallRow{.span = *span,
                                           .thread = *thread,
                                           .correlation = *correlation,
                                           .name = name.empty() ? std::string_view("unnamed call") : name});
  }
  for (auto& [pid, process] : processes) process.builder.has_host_calls = any;
  return {};
}

Result<void> read_ranges(SqliteFile& file, const Strings& strings, Processes& processes) {
  return RangeReader(file, strings, processes).read();
}

void name_collectives(Process& process) {
  const NcclRanges ranges(std::move(process.nccl_ranges));
  for (timeline::WorkRow& work : process.collectives) {
    const auto& launch = process.launches.at(work.correlation);
    const NcclRange* const range = launch ? ranges.kind_around(*launch) : nullptr;
    if (range != nullptr && work.collective == timeline::Collective::other) work.collective = range->kind;
    const NcclRange* const call = launch ? ranges.call_of(*launch) : nullptr;
    if (call != nullptr && call->kind == work.collective) work.message = message_of(process, *call);
    process.builder.add(work);
  }
  process.collectives.clear();
}

}  // namespace traceweir::ingest::nsys
