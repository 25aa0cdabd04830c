#include "analyzer/ingest/nsys_sqlite.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/ingest/nsys_counters.hpp"
#include "analyzer/ingest/nsys_facts.hpp"
#include "analyzer/ingest/nsys_host.hpp"
#include "analyzer/ingest/nsys_processes.hpp"
#include "analyzer/ingest/nsys_schema.hpp"
#include "analyzer/ingest/nsys_strings.hpp"
#include "analyzer/ingest/nsys_work.hpp"

namespace traceweir::ingest {
namespace {

using nsys::Process;
using nsys::Processes;
using timeline::GraphMode;
using timeline::Timeline;

/// What is true of every rank of the file.
struct Facts {
  timeline::TraceSource source;
  timeline::Environment environment;
  std::vector<nsys::Loss> losses;
};

Result<Facts> facts_of(SqliteFile& db) {
  Facts facts;
  TRACEWEIR_TRY(producer, nsys::producer_of(db));
  TRACEWEIR_TRY(environment, nsys::environment_of(db));
  TRACEWEIR_TRY(losses, nsys::losses_of(db));
  facts.source.producer = std::move(producer);
  facts.environment = std::move(environment);
  facts.losses = std::move(losses);
  return facts;
}

GraphMode graph_mode_of(const Process& process) {
  if (process.saw_graph_rows) return process.saw_node_rows ? GraphMode::mixed : GraphMode::graph;
  return process.saw_node_rows ? GraphMode::node : GraphMode::none;
}

/// Losses of processes that are no rank (launchers, data loaders) cost no measurement. Where nothing is a rank, every
/// loss may be why.
void note_losses(Process& process, const std::vector<nsys::Loss>& losses, const Processes& processes) {
  for (const nsys::Loss& loss : losses) {
    const bool applies = !loss.pid || !processes.distinguished || *loss.pid == process.pid || processes.empty();
    if (applies) process.builder.note(FindingCode::lost_events, loss.text);
  }
}

/// Of which a dropped row is lost GPU work.
constexpr std::string_view work_tables[] = {nsys::kernel_table, nsys::memcpy_table, nsys::memset_table,
                                            nsys::graph_table};

/// Without names communication cannot be told from compute; what is lost is as much as the kernels themselves.
void note_unnamed(Process& process) {
  constexpr std::int64_t tolerated = 100;  // one in so many, as of other work that cannot be used
  if (process.unnamed_kernels == 0) return;
  const bool too_many = process.unnamed_kernels > process.kernels / tolerated;
  process.builder.note(too_many ? FindingCode::lost_events : FindingCode::invalid_text,
                       fmt::format("{} of {} kernels have no name in the file, so that communication cannot be told "
                                   "from compute",
                                   process.unnamed_kernels, process.kernels),
                       process.unnamed_kernels);
}

/// Of half of all calls nothing is needed but that they are there.
void expect_calls(Process& process) {
  std::vector<std::int64_t> later;
  for (const timeline::WorkRow& work : process.collectives) later.push_back(work.correlation);
  process.builder.expect_calls_of(later);
}

Timeline timeline_of(Process& process, const Facts& facts) {
  process.builder.source = facts.source;
  process.builder.environment = facts.environment;
  process.builder.graph_mode = graph_mode_of(process);
  process.builder.step_naming = timeline::StepNaming::nvtx;
  return std::move(process.builder).finish();
}

}  // namespace

Result<std::vector<Timeline>> read_nsys_sqlite(SqliteFile& db) {
  TRACEWEIR_TRY_VOID(nsys::check_is_export(db));
  // From here on the database is sound and ours; only single values can still be wrong.

  TRACEWEIR_TRY(facts, facts_of(db));
  TRACEWEIR_TRY(gpus, nsys::Gpus::read(db));
  TRACEWEIR_TRY(strings, nsys::Strings::read(db));
  Processes processes;
  TRACEWEIR_TRY_VOID(nsys::read_work(db, gpus, strings, processes));
  for (auto& [pid, process] : processes) expect_calls(process);
  // From here on it is known which processes are ranks, and what they launched; rows of others are passed over.

  TRACEWEIR_TRY_VOID(nsys::read_ranges(db, strings, processes));
  TRACEWEIR_TRY_VOID(nsys::read_calls(db, strings, processes));
  TRACEWEIR_TRY_VOID(nsys::read_counters(db, gpus, processes));
  for (auto& [pid, process] : processes) nsys::name_collectives(process);

  Process nobody;
  std::vector<Process*> ranks = processes.ranks();
  if (ranks.empty()) ranks.push_back(processes.empty() ? &nobody : &processes.begin()->second);
  processes.note_dropped(*ranks.front(), work_tables);
  std::vector<Timeline> timelines;
  for (Process* rank : ranks) {
    note_unnamed(*rank);
    note_losses(*rank, facts.losses, processes);
    timelines.push_back(timeline_of(*rank, facts));
  }
  return timelines;
}

}  // namespace traceweir::ingest
