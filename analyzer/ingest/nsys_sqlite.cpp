#include "analyzer/ingest/nsys_sqlite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "analyzer/ingest/nsys_counters.hpp"
#include "analyzer/ingest/nsys_facts.hpp"
#include "analyzer/ingest/nsys_host.hpp"
#include "analyzer/ingest/nsys_processes.hpp"
#include "analyzer/ingest/nsys_schema.hpp"
#include "analyzer/ingest/nsys_strings.hpp"
#include "analyzer/ingest/nsys_work.hpp"
#include "analyzer/ingest/sqlite_file.hpp"
#include "analyzer/ingest/sqlite_header.hpp"

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

void note_dropped(Process& process, const Processes& processes) {
  constexpr std::string_view work_tables[] = {nsys::kernel_table, nsys::memcpy_table, nsys::memset_table,
                                              nsys::graph_table};
  for (const auto& [table, count] : processes.dropped()) {
    const bool work = std::find(std::begin(work_tables), std::end(work_tables), table) != std::end(work_tables);
    const std::string why = fmt::format("rows of {} with a value of the wrong type", table);
    if (work)
      process.builder.drop_work(why, count);
    else
      process.builder.note(FindingCode::invalid_text, why, count);
  }
}

Timeline timeline_of(Process& process, const Facts& facts) {
  process.builder.source = facts.source;
  process.builder.environment = facts.environment;
  process.builder.graph_mode = graph_mode_of(process);
  process.builder.step_naming = timeline::StepNaming::nvtx;
  return std::move(process.builder).finish();
}

/// The processes with work, by (smallest device ordinal, pid).
std::vector<Process*> ranks_of(Processes& processes) {
  std::vector<Process*> ranks;
  for (auto& [pid, process] : processes)
    if (process.builder.has_work()) ranks.push_back(&process);
  std::stable_sort(ranks.begin(), ranks.end(),
                   [](const Process* a, const Process* b) { return a->ordinal_min() < b->ordinal_min(); });
  return ranks;
}

}  // namespace

bool is_nsys_sqlite(std::string_view head) { return is_sqlite(head); }

Result<std::vector<Timeline>> read_nsys_sqlite(TraceInput& input) {
  if (!input.path().empty()) TRACEWEIR_TRY_VOID(check_journals(input.path()));
  TRACEWEIR_TRY(descriptor, input.file_to_seek_in());
  SqliteLimits database_limits;
  database_limits.file_bytes_max = input.limits().inflated_bytes_max;
  TRACEWEIR_TRY(db, SqliteFile::open(descriptor, nsys::readable_tables(), database_limits));
  TRACEWEIR_TRY_VOID(nsys::check_is_export(db));
  // From here on the database is sound and ours; only single values can still be wrong.

  TRACEWEIR_TRY(facts, facts_of(db));
  TRACEWEIR_TRY(gpus, nsys::Gpus::read(db));
  TRACEWEIR_TRY(strings, nsys::Strings::read(db));
  Processes processes;
  TRACEWEIR_TRY_VOID(nsys::read_work(db, gpus, strings, processes));
  // From here on it is known which processes are ranks; rows of others are passed over.

  TRACEWEIR_TRY_VOID(nsys::read_ranges(db, strings, processes));
  TRACEWEIR_TRY_VOID(nsys::read_calls(db, strings, processes));
  TRACEWEIR_TRY_VOID(nsys::read_counters(db, gpus, processes));
  for (auto& [pid, process] : processes) nsys::name_collectives(process);

  Process nobody;
  std::vector<Process*> ranks = ranks_of(processes);
  if (ranks.empty()) ranks.push_back(processes.empty() ? &nobody : &processes.begin()->second);
  note_dropped(*ranks.front(), processes);
  std::vector<Timeline> timelines;
  for (Process* rank : ranks) {
    note_losses(*rank, facts.losses, processes);
    timelines.push_back(timeline_of(*rank, facts));
  }
  return timelines;
}

}  // namespace traceweir::ingest
