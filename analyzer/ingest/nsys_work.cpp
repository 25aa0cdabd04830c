#include "analyzer/ingest/nsys_work.hpp"

#include <algorithm>
#include <string_view>

#include "analyzer/ingest/nsys_schema.hpp"

namespace traceweir::ingest::nsys {
namespace {

using timeline::Collective;
using timeline::Direction;
using timeline::HostMemory;
using timeline::WorkKind;
using timeline::WorkRow;
using timeline::WorkSource;

// Bytes of one copy that no machine can hold; sums of smaller ones stay far from overflow.
constexpr std::int64_t copy_bytes_max = std::int64_t{1} << 50;

/// One code of copyKind. Source: spec of formats, section 1.5.
struct CopyKind {
  std::int64_t code;
  std::string_view name;
  Direction direction;
  bool unified;
};
constexpr CopyKind copy_kinds[] = {
    {1, "Memcpy HtoD", Direction::h2d, false},  {2, "Memcpy DtoH", Direction::d2h, false},
    {3, "Memcpy HtoA", Direction::h2d, false},  {4, "Memcpy AtoH", Direction::d2h, false},
    {5, "Memcpy AtoA", Direction::d2d, false},  {6, "Memcpy AtoD", Direction::d2d, false},
    {7, "Memcpy DtoA", Direction::d2d, false},  {8, "Memcpy DtoD", Direction::d2d, false},
    {9, "Memcpy HtoH", Direction::none, false}, {10, "Memcpy PtoP", Direction::none, false},
    {11, "Memcpy HtoD", Direction::h2d, true},  {12, "Memcpy DtoH", Direction::d2h, true},
    {13, "Memcpy DtoD", Direction::d2d, true},
};
constexpr CopyKind unknown_copy{0, "Memcpy", Direction::none, false};
constexpr std::int64_t peer_copy = 10;
constexpr std::int64_t device_copy = 8;

const CopyKind& copy_kind_of(std::int64_t code) {
  const auto last = std::end(copy_kinds);
  const auto found = std::find_if(std::begin(copy_kinds), last, [&](const CopyKind& k) { return k.code == code; });
  return found == last ? unknown_copy : *found;
}

HostMemory host_memory_of(const CopyKind& kind, const Cell& source, const Cell& destination) {
  if (kind.unified || kind.direction == Direction::none || kind.direction == Direction::d2d) return HostMemory::unknown;
  const Cell& host = kind.direction == Direction::h2d ? source : destination;
  if (host.type != Cell::Type::integer) return HostMemory::unknown;
  if (host.integer == 0) return HostMemory::pageable;
  return host.integer == 1 ? HostMemory::pinned : HostMemory::unknown;
}

/// The columns with which every table of work begins, and how many they are.
enum Column : std::size_t { work_start, work_end, device, stream, correlation, global_pid, node, own };

// Demangled, short, mangled; then those that people add.
constexpr std::size_t name_columns = 6;

/// Reads the tables of work, one method each.
class WorkReader {
 public:
  WorkReader(SqliteFile& file, const Gpus& gpus, Strings& strings, Processes& processes)
      : file_(file), gpus_(gpus), strings_(strings), processes_(processes) {}

  Result<void> read_kernels();
  Result<void> read_copies();
  Result<void> read_memsets();
  Result<void> read_graphs();

 private:
  /// A row as far as the shared columns go.
  struct Base {
    Process* process = nullptr;
    WorkRow work;
  };
  /// No process: a value of the wrong type.
  /// Errors: malformed_trace (too many processes).
  Result<Base> base_of(const TableRows& rows);
  timeline::DeviceIndex device_of(Process& process, std::int64_t ordinal);
  void add_kernel(Base& base, const TableRows& rows);
  void add_copy(Base& base, const TableRows& rows);

  SqliteFile& file_;
  const Gpus& gpus_;
  Strings& strings_;
  Processes& processes_;
};

Result<WorkReader::Base> WorkReader::base_of(const TableRows& rows) {
  Base base;
  const auto span = span_of(rows[work_start], rows[work_end]);
  const auto ordinal = integer_or(rows[device], 0);
  const auto number = integer_or(rows[stream], 0);
  const auto id = integer_or(rows[correlation], 0);
  const auto owner = integer_or(rows[global_pid], 0);
  if (!span || !ordinal || !number || !id || !owner) return base;
  TRACEWEIR_TRY(process, processes_.make(process_of(*owner)));
  base.process = process;
  base.work.span = *span;
  base.work.device = device_of(*process, *ordinal);
  base.work.stream = *number;
  base.work.correlation = *id;
  if (rows[node].type == Cell::Type::integer && rows[node].integer != 0) process->saw_node_rows = true;
  return base;
}

timeline::DeviceIndex WorkReader::device_of(Process& process, std::int64_t ordinal) {
  const auto known = process.devices.find(ordinal);
  if (known != process.devices.end()) return known->second;
  const Gpu gpu = gpus_.of(process.pid, ordinal);
  const auto index = process.builder.device(ordinal, gpu.uuid);
  process.builder.set_gpu(index, gpu.name);
  process.devices.emplace(ordinal, index);
  return index;
}

Result<void> WorkReader::read_kernels() {
  TRACEWEIR_TRY(rows,
                TableRows::open(file_, kernel_table,
                                {"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "graphNodeId",
                                 "demangledName", "shortName", "mangledName", "kernel_name", "name", "cuda_name"}));
  for (;;) {
    TRACEWEIR_TRY(more, rows.next());
    if (!more) return {};
    TRACEWEIR_TRY(base, base_of(rows));
    if (base.process == nullptr)
      processes_.drop(kernel_table);
    else
      add_kernel(base, rows);
  }
}

void WorkReader::add_kernel(Base& base, const TableRows& rows) {
  Process& process = *base.process;
  WorkRow& work = base.work;
  std::optional<StringIndex> name;  // the first that is there
  for (std::size_t column = own; column < own + name_columns && !name; ++column)
    name = strings_.find_or_keep(rows[column]);
  ++process.kernels;
  if (!name) ++process.unnamed_kernels;
  work.name = name ? process.name(*name, strings_) : process.builder.name("unnamed kernel");
  work.source = WorkSource::kernel;
  const auto collective = name ? strings_.collective(*name) : std::nullopt;
  work.kind = collective ? WorkKind::comm : WorkKind::compute;
  work.collective = collective.value_or(Collective::other);
  if (collective && work.correlation > 0) {
    // Its NVTX range may still tell what it is and how large its message was (nsys_host.hpp).
    process.await_launch(work.correlation);
    process.collectives.push_back(work);
    return;
  }
  process.builder.add(work);
}

Result<void> WorkReader::read_copies() {
  TRACEWEIR_TRY(rows,
                TableRows::open(file_, memcpy_table,
                                {"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "graphNodeId",
                                 "bytes", "copyKind", "srcKind", "dstKind", "srcDeviceId", "dstDeviceId"}));
  for (;;) {
    TRACEWEIR_TRY(more, rows.next());
    if (!more) return {};
    const auto bytes = integer_or(rows[own], 0);
    const bool valid = bytes && *bytes >= 0 && *bytes < copy_bytes_max;
    TRACEWEIR_TRY(base, base_of(rows));
    if (base.process == nullptr || !valid) {
      processes_.drop(memcpy_table);
      continue;
    }
    base.work.bytes = *bytes;
    add_copy(base, rows);
  }
}

void WorkReader::add_copy(Base& base, const TableRows& rows) {
  enum CopyColumn : std::size_t { kind_code = own + 1, source_kind, destination_kind, source, destination };
  const CopyKind& kind = copy_kind_of(integer_or(rows[kind_code], 0).value_or(0));
  const bool between = kind.code == device_copy && rows[source].type == Cell::Type::integer &&
                       rows[destination].type == Cell::Type::integer &&
                       rows[source].integer != rows[destination].integer;
  const bool peer = kind.code == peer_copy || between;
  WorkRow& work = base.work;
  work.name = base.process->builder.name(between ? std::string_view("Memcpy PtoP") : kind.name);
  work.source = WorkSource::memcpy;
  work.kind = peer ? WorkKind::comm : WorkKind::memory;
  work.direction = peer ? Direction::none : kind.direction;
  work.host_memory = host_memory_of(kind, rows[source_kind], rows[destination_kind]);
  base.process->builder.add(work);
}

Result<void> WorkReader::read_memsets() {
  TRACEWEIR_TRY(rows, TableRows::open(file_, memset_table,
                                      {"start", "end", "deviceId", "streamId", "correlationId", "globalPid",
                                       "graphNodeId", "bytes"}));
  for (;;) {
    TRACEWEIR_TRY(more, rows.next());
    if (!more) return {};
    const auto bytes = integer_or(rows[own], 0);
    const bool valid = bytes && *bytes >= 0 && *bytes < copy_bytes_max;
    TRACEWEIR_TRY(base, base_of(rows));
    if (base.process == nullptr || !valid) {
      processes_.drop(memset_table);
      continue;
    }
    base.work.bytes = *bytes;
    base.work.name = base.process->builder.name("Memset");
    base.work.source = WorkSource::memset;
    base.work.kind = WorkKind::memory;
    base.process->builder.add(base.work);
  }
}

Result<void> WorkReader::read_graphs() {
  TRACEWEIR_TRY(rows,
                TableRows::open(file_, graph_table,
                                {"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "graphNodeId"}));
  for (;;) {
    TRACEWEIR_TRY(more, rows.next());
    if (!more) return {};
    TRACEWEIR_TRY(base, base_of(rows));
    if (base.process == nullptr) {
      processes_.drop(graph_table);
      continue;
    }
    base.work.name = base.process->builder.name("CUDA graph");
    base.work.source = WorkSource::graph_launch;
    base.work.kind = WorkKind::graph;
    base.process->saw_graph_rows = true;
    base.process->builder.note(FindingCode::graph_level_tracing);
    base.process->builder.add(base.work);
  }
}

/// Whether the work says whose it is. Slim exports drop the column; then the file is one process.
Result<bool> names_processes(SqliteFile& file) {
  for (const std::string_view table : {kernel_table, memcpy_table, memset_table, graph_table}) {
    TRACEWEIR_TRY(any, has_rows(file, table));
    if (!any) continue;
    TRACEWEIR_TRY(name, version_of_table(file, table));
    if (!has_column(file, name, "globalPid")) return false;
  }
  return true;
}

}  // namespace

Result<void> read_work(SqliteFile& file, const Gpus& gpus, Strings& strings, Processes& processes) {
  TRACEWEIR_TRY(distinguished, names_processes(file));
  processes.distinguished = distinguished;
  WorkReader reader(file, gpus, strings, processes);
  TRACEWEIR_TRY_VOID(reader.read_kernels());
  TRACEWEIR_TRY_VOID(reader.read_copies());
  TRACEWEIR_TRY_VOID(reader.read_memsets());
  TRACEWEIR_TRY_VOID(reader.read_graphs());
  return {};
}

}  // namespace traceweir::ingest::nsys
