#include "analyzer/ingest/rocpd_sqlite.hpp"

#include <algorithm>
#include <utility>

#include "analyzer/ingest/nsys_host.hpp"
#include "analyzer/ingest/nsys_nccl.hpp"
#include "analyzer/ingest/nsys_processes.hpp"
#include "analyzer/ingest/nsys_schema.hpp"
#include "analyzer/ingest/nsys_strings.hpp"
#include "analyzer/ingest/rocpd_facts.hpp"
#include "analyzer/ingest/rocpd_schema.hpp"

namespace traceweir::ingest {
namespace {

using nsys::Process;
using nsys::Processes;
using nsys::TableRows;
using rocpd::Agent;
using rocpd::Place;
using timeline::Direction;
using timeline::Timeline;
using timeline::WorkKind;
using timeline::WorkRow;
using timeline::WorkSource;

// Bytes of one copy that no machine can hold; sums of smaller ones stay far from overflow.
constexpr std::int64_t copy_bytes_max = std::int64_t{1} << 50;

/// A word in the name of a copy. Source: rocprofiler-sdk, rocprofiler_memory_copy_operation_t.
struct Copy {
  std::string_view word;
  std::string_view name;
  Direction direction;
};
constexpr Copy copies[] = {
    {"HOST_TO_DEVICE", "Memcpy HtoD", Direction::h2d},
    {"DEVICE_TO_HOST", "Memcpy DtoH", Direction::d2h},
    {"DEVICE_TO_DEVICE", "Memcpy DtoD", Direction::d2d},
};
constexpr Copy unknown_copy{"", "Memcpy", Direction::none};
constexpr std::string_view peer_copy = "Memcpy PtoP";

const Copy& copy_of(std::string_view name) {
  const auto last = std::end(copies);
  const auto found = std::find_if(std::begin(copies), last,
                                  [&](const Copy& row) { return name.find(row.word) != std::string_view::npos; });
  return found == last ? unknown_copy : *found;
}

bool is_roctx(std::string_view text) { return text.starts_with("roctx"); }

/// What the user called a range; empty: it is none. A region of roctx has the function and the user's text, one as its
/// name and the other as its message; which is which depends on the version.
std::string_view text_of_range(std::string_view name, std::string_view message) {
  const bool function_first = is_roctx(name);
  const std::string_view text = function_first ? message : name;
  const std::string_view function = function_first ? name : is_roctx(message) ? message : std::string_view();
  // Marks have no length, and names given to threads and devices are no ranges either.
  if (!function.empty() && function.find("Range") == std::string_view::npos) return {};
  return text;
}

/// Calls that launch, wait or allocate. Regions of other libraries and of the compiler's runtime are none.
bool is_api_call(std::string_view name) { return name.starts_with("hip") || name.starts_with("hsa_"); }

/// Reads the tables of one database, one method each.
class RocpdReader {
 public:
  RocpdReader(SqliteFile& file, const rocpd::Capture& capture, const rocpd::Facts& facts)
      : file_(file), capture_(capture), facts_(facts) {}

  Result<void> read_kernels();
  Result<void> read_copies(const nsys::Strings& strings);
  Result<void> read_regions(const nsys::Strings& strings);
  Result<std::vector<Timeline>> finish();

 private:
  using Columns = std::initializer_list<std::string_view>;
  Result<TableRows> open(std::string_view table, Columns own);
  timeline::DeviceIndex device_of(Process& process, const Agent& agent);
  Result<void> add_kernel(const Place& place, const TableRows& rows, nsys::Strings& symbols);
  Result<void> add_copy(const Place& place, const TableRows& rows, std::string_view name);
  void add_region(Process& process, const Place& place, const rocpd::Event& event, std::string_view name);

  SqliteFile& file_;
  const rocpd::Capture& capture_;
  const rocpd::Facts& facts_;
  Processes processes_;
  bool any_calls_ = false;
};

Result<TableRows> RocpdReader::open(std::string_view table, Columns own) {
  std::vector<std::string_view> columns(std::begin(rocpd::place_columns), std::end(rocpd::place_columns));
  columns.insert(columns.end(), own.begin(), own.end());
  return TableRows::open(file_, capture_.table(table), columns);
}

timeline::DeviceIndex RocpdReader::device_of(Process& process, const Agent& agent) {
  const auto known = process.devices.find(agent.ordinal);
  if (known != process.devices.end()) return known->second;
  const auto index = process.builder.device(agent.ordinal);
  process.builder.set_gpu(index, agent.name);
  process.devices.emplace(agent.ordinal, index);
  return index;
}

Result<void> RocpdReader::read_kernels() {
  TRACEWEIR_TRY(symbols,
                nsys::Strings::read(file_, capture_.table(rocpd::symbol_table), {"id", "display_name", "kernel_name"}));
  TRACEWEIR_TRY(rows, open(rocpd::kernel_table, {"kernel_id"}));
  for (;;) {
    TRACEWEIR_TRY(more, rows.next());
    if (!more) return {};
    const auto place = facts_.place_of(rows);
    if (!place) {
      processes_.drop(rocpd::kernel_table);
      continue;
    }
    TRACEWEIR_TRY_VOID(add_kernel(*place, rows, symbols));
  }
}

Result<void> RocpdReader::add_kernel(const Place& place, const TableRows& rows, nsys::Strings& symbols) {
  TRACEWEIR_TRY(process, processes_.make(place.process));
  const auto symbol = symbols.find(rows[rocpd::own]);
  const auto collective = symbol ? symbols.collective(*symbol) : std::nullopt;
  WorkRow work;
  work.span = place.span;
  work.device = device_of(*process, facts_.agent(place.agent));
  work.stream = place.stream;
  work.correlation = facts_.event_of(rows).correlation;
  work.name = symbol ? process->name(*symbol, symbols) : process->builder.name("unnamed kernel");
  work.source = WorkSource::kernel;
  work.kind = collective ? WorkKind::comm : WorkKind::compute;
  work.collective = collective.value_or(timeline::Collective::other);
  if (collective && work.correlation > 0) {
    // The region of RCCL around its launch may still tell what it is.
    process->await_launch(work.correlation);
    process->collectives.push_back(work);
  } else {
    process->builder.add(work);
  }
  return {};
}

Result<void> RocpdReader::read_copies(const nsys::Strings& strings) {
  TRACEWEIR_TRY(rows, open(rocpd::copy_table, {"name_id", "size", "src_agent_id", "dst_agent_id"}));
  for (;;) {
    TRACEWEIR_TRY(more, rows.next());
    if (!more) return {};
    const auto place = facts_.place_of(rows);
    const auto bytes = nsys::integer_or(rows[rocpd::own + 1], 0);
    if (!place || !bytes || *bytes < 0 || *bytes >= copy_bytes_max) {
      processes_.drop(rocpd::copy_table);
      continue;
    }
    const auto name = strings.find(rows[rocpd::own]);
    TRACEWEIR_TRY_VOID(add_copy(*place, rows, name ? strings.text(*name) : std::string_view()));
  }
}

Result<void> RocpdReader::add_copy(const Place& place, const TableRows& rows, std::string_view name) {
  const auto end_of_copy = [&](std::size_t column) {
    const bool known = rows[column].type == Cell::Type::integer;
    return facts_.agent(known ? std::optional(rows[column].integer) : place.agent);
  };
  const Agent source = end_of_copy(rocpd::own + 2);
  const Agent destination = end_of_copy(rocpd::own + 3);
  if (!source.is_gpu && !destination.is_gpu) return {};  // no GPU had to do with it
  const Copy& word = copy_of(name);
  const bool peer = source.is_gpu && destination.is_gpu && source.ordinal != destination.ordinal &&
                    (word.direction == Direction::d2d || word.direction == Direction::none);
  TRACEWEIR_TRY(process, processes_.make(place.process));
  WorkRow work;
  work.span = place.span;
  work.device = device_of(*process, destination.is_gpu ? destination : source);
  work.stream = place.stream;
  work.correlation = facts_.event_of(rows).correlation;
  work.name = process->builder.name(peer ? peer_copy : word.name);
  work.source = WorkSource::memcpy;
  work.kind = peer ? WorkKind::comm : WorkKind::memory;
  work.direction = peer ? Direction::none : word.direction;
  work.bytes = rows[rocpd::own + 1].integer;
  process->builder.add(work);
  return {};
}

Result<void> RocpdReader::read_regions(const nsys::Strings& strings) {
  TRACEWEIR_TRY(rows, open(rocpd::region_table, {"name_id"}));
  for (;;) {
    TRACEWEIR_TRY(more, rows.next());
    if (!more) break;
    const auto place = facts_.place_of(rows);
    if (!place) {
      processes_.drop(rocpd::region_table);
      continue;
    }
    Process* const process = processes_.find(place->process);
    const auto name = strings.find(rows[rocpd::own]);
    if (process != nullptr && name) add_region(*process, *place, facts_.event_of(rows), strings.text(*name));
  }
  for (auto& [pid, process] : processes_) {
    process.builder.has_host_calls = any_calls_;
    nsys::name_collectives(process);
  }
  return {};
}

void RocpdReader::add_region(Process& process, const Place& place, const rocpd::Event& event, std::string_view name) {
  if (event.is_marker) {
    const std::string_view text = text_of_range(name, facts_.message(event));
    if (!text.empty())
      process.builder.add(
          timeline::RangeRow{.span = place.span, .thread = place.thread, .name = process.builder.range_name(text)});
    return;
  }
  if (const auto call = nsys::nccl_range_of(name, place.thread, place.span)) process.nccl_ranges.push_back(*call);
  const bool is_call = is_api_call(name);
  if (!is_call && !nsys::is_nccl_call(name)) return;
  process.remember_launch(event.correlation, place.thread, place.span);
  // Calls of RCCL alone do not tell what launched the other kernels.
  any_calls_ = any_calls_ || is_call;
  process.builder.add(
      timeline::CallRow{.span = place.span, .thread = place.thread, .correlation = event.correlation, .name = name});
}

Result<std::vector<Timeline>> RocpdReader::finish() {
  Process nobody;
  std::vector<Process*> ranks = processes_.ranks();
  if (ranks.empty()) ranks.push_back(processes_.empty() ? &nobody : &processes_.begin()->second);
  constexpr std::string_view lossy_tables[] = {rocpd::kernel_table, rocpd::copy_table};
  processes_.note_dropped(*ranks.front(), lossy_tables);
  std::vector<Timeline> timelines;
  for (Process* rank : ranks) {
    rank->builder.source.producer = facts_.producer();
    rank->builder.step_naming = timeline::StepNaming::nvtx;
    timelines.push_back(std::move(rank->builder).finish());
  }
  return timelines;
}

}  // namespace

Result<std::vector<Timeline>> read_rocpd_sqlite(SqliteFile& db) {
  TRACEWEIR_TRY(capture, rocpd::Capture::of(db));
  TRACEWEIR_TRY(facts, rocpd::Facts::read(db, capture));
  TRACEWEIR_TRY(strings, nsys::Strings::read(db, capture.table(rocpd::string_table), {"id", "string"}));
  RocpdReader reader(db, capture, facts);
  TRACEWEIR_TRY_VOID(reader.read_kernels());
  TRACEWEIR_TRY_VOID(reader.read_copies(strings));
  // From here on it is known which processes are ranks; regions of others are passed over.

  TRACEWEIR_TRY_VOID(reader.read_regions(strings));
  return reader.finish();
}

}  // namespace traceweir::ingest
