#include "analyzer/ingest/nsys_counters.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/ingest/nsys_schema.hpp"

namespace traceweir::ingest::nsys {
namespace {

constexpr std::size_t counters_of_file_max = 16'384;

using CounterKey = std::pair<std::int64_t, std::int64_t>;  ///< typeId, metricId

/// Whose series a counter's samples belong to. A GPU that several processes used is sampled for each of them.
struct Target {
  Process* process;
  std::uint32_t counter;
};

Result<std::map<CounterKey, std::string>> names_of(SqliteFile& file) {
  std::map<CounterKey, std::string> names;
  TRACEWEIR_TRY(rows, TableRows::open(file, counters_table, {"typeId", "metricId", "metricName"}));
  for (;;) {
    TRACEWEIR_TRY(more, rows.next());
    if (!more || names.size() == counters_of_file_max) return names;
    if (rows[0].type != Cell::Type::integer || rows[1].type != Cell::Type::integer) continue;
    if (rows[2].type == Cell::Type::text) names.try_emplace({rows[0].integer, rows[1].integer}, rows[2].text);
  }
}

std::vector<Target> targets_of(std::int64_t machine_gpu, std::string_view name, const Gpus& gpus,
                               Processes& processes) {
  std::vector<Target> targets;
  for (auto& [pid, process] : processes)
    for (const auto& [ordinal, device] : process.devices)
      if (gpus.machine_number(pid, ordinal) == machine_gpu)
        targets.push_back({&process, process.builder.counter(name, device)});
  return targets;
}

std::optional<double> value_of(const Cell& cell) {
  if (cell.type == Cell::Type::integer) return static_cast<double>(cell.integer);
  if (cell.type == Cell::Type::real) return cell.real;
  return std::nullopt;
}

/// Some exports hold the samples among the generic events.
Result<std::string_view> table_of_samples(SqliteFile& file) {
  TRACEWEIR_TRY(any, has_rows(file, samples_table));
  return any ? samples_table : generic_table;
}

/// Samples as JSON, of which no file has been seen, are not read: that is said, since their absence would be taken for
/// a capture without counters.
Result<void> note_unread_samples(SqliteFile& file, Processes& processes) {
  TRACEWEIR_TRY(name, version_of_table(file, generic_table));
  TRACEWEIR_TRY(any, has_rows(file, generic_table));
  if (!any || has_column(file, name, "metricId") || !has_column(file, name, "data")) return {};
  for (auto& [pid, process] : processes)
    process.builder.note(FindingCode::invalid_text,
                         "GENERIC_EVENTS holds its values as JSON, which is not read: counters of the GPU in it are "
                         "missing");
  return {};
}

}  // namespace

Result<void> read_counters(SqliteFile& file, const Gpus& gpus, Processes& processes) {
  constexpr std::int64_t gpu_number_mask = 0xFF;
  if (processes.empty()) return {};
  TRACEWEIR_TRY(table, table_of_samples(file));
  if (table == generic_table) TRACEWEIR_TRY_VOID(note_unread_samples(file, processes));
  TRACEWEIR_TRY(names, names_of(file));
  std::map<CounterKey, std::vector<Target>> targets;
  for (const auto& [key, name] : names)
    targets.emplace(key, targets_of(key.first & gpu_number_mask, name, gpus, processes));
  TRACEWEIR_TRY(rows, TableRows::open(file, table, {"timestamp", "typeId", "metricId", "value"}));
  for (;;) {
    TRACEWEIR_TRY(more, rows.next());
    if (!more) return {};
    const auto value = value_of(rows[3]);
    const bool keyed = rows[1].type == Cell::Type::integer && rows[2].type == Cell::Type::integer;
    if (!value || !keyed || rows[0].type != Cell::Type::integer) {
      // The other table holds events of other kinds too, which have no counter.
      if (table == samples_table) processes.drop(samples_table);
      continue;
    }
    const auto of_counter = targets.find({rows[1].integer, rows[2].integer});
    if (of_counter == targets.end()) continue;
    for (const Target& target : of_counter->second)
      target.process->builder.add(timeline::SampleRow{Nanos{rows[0].integer}, target.counter, *value});
  }
}

}  // namespace traceweir::ingest::nsys
