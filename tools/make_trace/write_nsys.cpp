#include "tools/make_trace/write_nsys.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <SQLiteCpp/VariadicBind.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tools/make_trace/kernels.hpp"
#include "tools/make_trace/nsys_schema.hpp"

namespace traceweir::make_trace {
namespace {

// Times count from the start of the session; the job began a while after it.
constexpr Ns session_offset = 60'111'418'026;
constexpr std::int64_t machine = 281'474'976'710'656;  // the bits above the process id in global ids
constexpr int context = 1;
constexpr int nccl_domain = 1;

// Codes of the export's enumerations.
constexpr int push_pop_range = 59;
constexpr int domain_create = 75;
constexpr int copy_h2d_code = 1;
constexpr int copy_d2h_code = 2;
constexpr int memory_pageable = 0;
constexpr int memory_pinned = 1;
constexpr int memory_device = 2;
constexpr int sync_stream = 3;

std::int64_t global_pid(const Rank& rank) { return machine + (std::int64_t{rank.pid} << 24U); }
std::int64_t global_tid(const Rank& rank, int thread) {
  return global_pid(rank) + rank.threads[static_cast<std::size_t>(thread)];
}
std::string uuid(const Rank& rank) { return fmt::format("GPU-{:08x}-0000-4000-8000-000000000000", rank.device + 1); }

/// Every text is stored once and referred to by number.
class Strings {
 public:
  std::int64_t id(std::string_view text) {
    return ids_.try_emplace(std::string(text), 70'000 + static_cast<std::int64_t>(ids_.size())).first->second;
  }
  void write(SQLite::Database& db) const {
    SQLite::Statement insert(db, "INSERT INTO StringIds VALUES (?, ?)");
    for (const auto& [text, id] : ids_) {
      SQLite::bind(insert, id, text);
      insert.exec();
      insert.reset();
    }
  }

 private:
  std::map<std::string, std::int64_t> ids_;
};

/// An insert statement that is run with new values again and again.
class Insert {
 public:
  Insert(SQLite::Database& db, const char* sql) : statement_(db, sql) {}

  template <typename... Values>
  void row(const Values&... values) {
    SQLite::bind(statement_, values...);
    statement_.exec();
    statement_.reset();
  }

 private:
  SQLite::Statement statement_;
};

void write_process(SQLite::Database& db, const Rank& rank, Strings& strings) {
  Insert(db, "INSERT INTO PROCESSES VALUES (?, ?, ?)").row(global_pid(rank), rank.pid, "python3");
  Insert threads(db, "INSERT INTO ThreadNames VALUES (?, 20, ?)");
  threads.row(strings.id("python3"), global_tid(rank, 0));
  threads.row(strings.id("pt_autograd_0"), global_tid(rank, 1));
  Insert(db,
         "INSERT INTO TARGET_INFO_GPU (vmId, id, name, busLocation, isDiscrete, totalMemory, smCount, uuid, chipName, "
         "cuDevice, computeMajor, computeMinor) VALUES (?, ?, 'NVIDIA H100 80GB HBM3', ?, 1, 85045084160, 132, ?, "
         "'GH100', ?, 9, 0)")
      .row(machine, rank.device, fmt::format("0000:{:02x}:00.0", 24 + rank.device), uuid(rank), rank.device);
  Insert(db, "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (?, ?, ?, ?, 132)")
      .row(rank.device, rank.device, rank.pid, uuid(rank));
}

/// Calls `write(rank, row)` for the rows of all ranks as they came: of the ranks' next rows always the earliest.
template <typename Row, typename Write>
void in_turn(const Trace& trace, std::vector<Row> Rank::*rows, const Write& write) {
  std::vector<std::size_t> next(trace.ranks.size(), 0);
  while (true) {
    const Rank* earliest = nullptr;
    const Row* row = nullptr;
    for (std::size_t i = 0; i < next.size(); ++i) {
      const std::vector<Row>& own = trace.ranks[i].*rows;
      if (next[i] == own.size() || (row != nullptr && row->begin <= own[next[i]].begin)) continue;
      earliest = &trace.ranks[i];
      row = &own[next[i]];
    }
    if (row == nullptr) return;
    ++next[static_cast<std::size_t>(earliest - trace.ranks.data())];
    write(*earliest, *row);
  }
}

void write_calls(SQLite::Database& db, const Trace& trace, Strings& strings) {
  Insert calls(db, "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 0, ?, ?, ?, 0, NULL)");
  Insert syncs(db, "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (?, ?, ?, ?, 0, 7, ?, ?, ?, 0)");
  in_turn(trace, &Rank::calls, [&](const Rank& rank, const Call& call) {
    const Ns begin = session_offset + call.begin;
    const Ns end = session_offset + call.end;
    const std::string name = fmt::format("{}_v{}", call.name, call.version);
    calls.row(begin, end, global_tid(rank, call.thread), call.correlation, strings.id(name));
    if (call.blocking)
      syncs.row(begin + 1'000, end - 1'000, rank.device, context, call.correlation, global_pid(rank), sync_stream);
  });
}

void write_kernels(SQLite::Database& db, const Trace& trace, Strings& strings) {
  Insert kernels(db,
                 "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, 1, 1, 96, 132, 1, 1, "
                 "256, 1, 1, 0, 48336, 0, 250871808, ?, 65536, NULL, 0)");
  std::int64_t grid = 0;
  in_turn(trace, &Rank::work, [&](const Rank& rank, const Work& work) {
    if (work.kind != WorkKind::compute && work.kind != WorkKind::allreduce) return;
    const std::string_view short_name = short_name_of(work.name);
    kernels.row(session_offset + work.begin, session_offset + work.end, rank.device, context, work.stream,
                work.correlation, global_pid(rank), strings.id(work.name), strings.id(short_name),
                strings.id(fmt::format("_Z{}{}", short_name.size(), short_name)), ++grid);
  });
}

void write_copies(SQLite::Database& db, const Trace& trace) {
  Insert copies(db,
                "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, contextId, streamId, correlationId, "
                "globalPid, bytes, copyKind, srcKind, dstKind) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  in_turn(trace, &Rank::work, [&](const Rank& rank, const Work& work) {
    if (work.kind != WorkKind::copy_h2d && work.kind != WorkKind::copy_d2h) return;
    const bool to_device = work.kind == WorkKind::copy_h2d;
    const int host = work.host_memory == HostMemory::pinned ? memory_pinned : memory_pageable;
    copies.row(session_offset + work.begin, session_offset + work.end, rank.device, context, work.stream,
               work.correlation, global_pid(rank), work.bytes, to_device ? copy_h2d_code : copy_d2h_code,
               to_device ? host : memory_device, to_device ? memory_device : host);
  });
}

void write_ranges(SQLite::Database& db, const Trace& trace, Strings& strings) {
  // NCCL registers its texts, users do not: theirs are inline.
  Insert own(db,
             "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId) VALUES (?, ?, ?, ?, ?, 0)");
  Insert nccl(db,
              "INSERT INTO NVTX_EVENTS (start, end, eventType, textId, globalTid, domainId) VALUES (?, ?, ?, ?, ?, ?)");
  Insert domain(db,
                "INSERT INTO NVTX_EVENTS (start, eventType, text, globalTid, domainId) VALUES (?, ?, 'NCCL', ?, ?)");
  for (const Rank& rank : trace.ranks)
    domain.row(session_offset - 5'000'000, domain_create, global_tid(rank, 0), nccl_domain);
  in_turn(trace, &Rank::ranges, [&](const Rank& rank, const Range& range) {
    const Ns begin = session_offset + range.begin;
    const Ns end = session_offset + range.end;
    const std::int64_t thread = global_tid(rank, range.thread);
    if (range.kind == RangeKind::collective)
      nccl.row(begin, end, push_pop_range, strings.id("ncclAllReduce"), thread, nccl_domain);
    else if (range.kind == RangeKind::step)
      own.row(begin, end, push_pop_range, fmt::format("step {}", range.number), thread);
    else if (range.kind == RangeKind::op)
      own.row(begin, end, push_pop_range, fmt::format("{}, op_id = {}", range.name, range.number), thread);
    else
      own.row(begin, end, push_pop_range, std::string(range.name), thread);
  });
}

void write_session(SQLite::Database& db, const Trace& trace) {
  Ns end = 0;
  for (const Rank& rank : trace.ranks)
    for (const Range& range : rank.ranges) end = std::max(end, range.end);
  Insert(db, "INSERT INTO ANALYSIS_DETAILS VALUES (?, ?, 0, ?)")
      .row(machine, session_offset + end, session_offset + end);
  Insert(db,
         "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1719853884000000000, '2024-07-01T17:11:24', "
         "'2024-07-01T17:11:24 UTC')")
      .row();
  Insert(db, "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (?, 'Local (CLI)', 'NvDriverVersion', 205, '550.54.15')")
      .row(machine);
}

}  // namespace

void write_nsys(const Trace& trace, const std::filesystem::path& file) {
  std::filesystem::remove(file);
  SQLite::Database db(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  db.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
  db.exec(nsys_schema);
  Strings strings;
  for (const Rank& rank : trace.ranks) write_process(db, rank, strings);
  write_calls(db, trace, strings);
  write_kernels(db, trace, strings);
  write_copies(db, trace);
  write_ranges(db, trace, strings);
  write_session(db, trace);
  strings.write(db);
  db.exec("COMMIT");
}

}  // namespace traceweir::make_trace
