#include "analyzer/report/overview.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "analyzer/core/words.hpp"
#include "analyzer/report/quantities.hpp"
#include "analyzer/report/report_words.hpp"
#include "analyzer/report/rest.hpp"

namespace traceweir::report {
namespace {

using metrics::Measurement;

double device_time(const RankReport& rank) {
  if (!rank.window) return 0;
  return static_cast<double>(rank.window->span.length().count()) * static_cast<double>(rank.environment.gpu_count);
}

/// Why a metric has no value, in words.
constexpr Word<NotMeasured> reasons[] = {
    {NotMeasured::no_gpu_work, "no GPU work in the trace"},
    {NotMeasured::no_steps, "no steps are marked, or the window has no step count"},
    {NotMeasured::few_steps, "too few steps"},
    {NotMeasured::no_comm, "no such communication in the window"},
    {NotMeasured::no_copies, "no such copies in the window"},
    {NotMeasured::no_sizes, "the trace does not tell message sizes"},
    {NotMeasured::unknown_memory_kind, "the trace does not tell pageable from pinned memory"},
    {NotMeasured::graph_opaque, "CUDA graphs were traced as a whole (use --cuda-graph-trace=node)"},
    {NotMeasured::no_host_calls, "the trace has no API calls of the host"},
    {NotMeasured::single_rank, "needs the traces of several ranks"},
    {NotMeasured::ranks_apart, "needs the traces of all ranks in one analysis, not reports of each"},
    {NotMeasured::no_such_table, "the trace does not carry this data"},
    {NotMeasured::untrusted_data, "the data contradict themselves"},
};

const Measurement* measurement(const RankReport& rank, std::string_view metric) {
  const auto row = std::find_if(rank.measurements.begin(), rank.measurements.end(),
                                [&](const Measurement& m) { return m.metric == metric; });
  return row == rank.measurements.end() ? nullptr : &*row;
}

/// The value for a person; a dash where there is none.
std::string shown(const RankReport& rank, const std::string& metric) {
  const Measurement* row = measurement(rank, metric);
  return row != nullptr && row->value ? human(*row->value, row->unit) : "–";
}

bool is_measured(const RankReport& rank, const std::string& metric) {
  const Measurement* row = measurement(rank, metric);
  return row != nullptr && row->value.has_value();
}

std::string counted(std::int64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string gpus_text(const EnvironmentFacts& environment) {
  std::map<std::string, std::int64_t> counts;
  for (const std::string& gpu : environment.gpus) ++counts[gpu.empty() ? "unknown GPU" : gpu];
  std::vector<std::string> parts;
  for (const auto& [gpu, count] : counts) parts.push_back(fmt::format("{} × {}", count, gpu));
  return parts.empty() ? "none with work" : fmt::format("{}", fmt::join(parts, ", "));
}

/// Values of one's own and tables of sums. A trace of the host alone has values, too, but knows when.
bool is_of_amounts(const RankReport& rank) {
  const Measurement* utilization = measurement(rank, "gpu.utilization");
  return (utilization != nullptr && utilization->not_measured == NotMeasured::no_such_table) ||
         std::any_of(rank.measurements.begin(), rank.measurements.end(),
                     [](const Measurement& row) { return row.value.has_value() && is_custom(row.metric); });
}

std::string window_text(const RankReport& rank) {
  if (!rank.window && is_of_amounts(rank)) return "none: what is given tells how much, not when";
  if (!rank.window) return "none: no GPU work in this trace";
  const metrics::Window& window = *rank.window;
  std::string text = fmt::format("{}, {}", word(window.kind), human(window.span.length()));
  if (window.steps) text += ", " + counted(*window.steps, "whole step", "whole steps");
  if (window.skipped_steps > 0) text += fmt::format(" ({} skipped)", window.skipped_steps);
  return text;
}

std::string trace_text(const TraceFacts& trace) {
  std::vector<std::string> parts;
  if (!trace.name.empty()) parts.push_back(trace.name);
  parts.push_back(trace.compression == "none" || trace.compression.empty() ? trace.format
                                                                           : trace.format + ", " + trace.compression);
  parts.push_back(human(static_cast<double>(trace.bytes), Unit::bytes));
  if (!trace.producer.empty()) parts.push_back(trace.producer);
  return fmt::format("{}", fmt::join(parts, " · "));
}

void add_known(std::vector<std::string>& parts, std::string_view name, const std::string& value) {
  if (!value.empty()) parts.push_back(fmt::format("{} {}", name, value));
}

/// Joins `name value` pairs of what was measured.
std::string measured_text(const RankReport& rank, const std::vector<std::pair<const char*, std::string>>& parts) {
  std::vector<std::string> texts;
  for (const auto& [name, metric] : parts)
    if (is_measured(rank, metric)) texts.push_back(fmt::format("{} {}", name, shown(rank, metric)));
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// The metrics in which ranks of one job differ when something is wrong with it; the JSON has them all.
bool tells_ranks_apart(std::string_view metric) {
  constexpr std::string_view beginnings[] = {"gpu.", "comm.", "step.", "rank.", "sync.share"};
  constexpr std::string_view endings[] = {".time_mean", ".exposed_share", ".transfer_mean", ".wait_share"};
  return std::any_of(std::begin(beginnings), std::end(beginnings),
                     [&](std::string_view text) { return metric.starts_with(text); }) ||
         std::any_of(std::begin(endings), std::end(endings),
                     [&](std::string_view text) { return metric.ends_with(text); });
}

/// `input 9.1 %, launch 4.8 %`: shares of the window, the largest first.
std::string idle_causes_text(const RankReport& rank) {
  std::map<findings::IdleCause, double> sums;
  for (const DeviceReport& device : rank.devices)
    for (const auto& [cause, length] : device.idle_causes) sums[cause] += static_cast<double>(length.count());
  std::vector<std::pair<double, findings::IdleCause>> causes;
  for (const auto& [cause, sum] : sums)
    if (sum > 0) causes.emplace_back(-sum, cause);
  std::sort(causes.begin(), causes.end());
  std::vector<std::string> parts;
  for (const auto& [sum, cause] : causes)
    parts.push_back(fmt::format("{} {}", word(cause), human(-sum / device_time(rank), Unit::ratio)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string family_of(const std::string& metric) { return metric.substr(0, metric.find('.')); }

/// `allgather.*` for families of which nothing has a value, else the ids.
std::vector<std::string> collapsed(const std::vector<std::string>& ids,
                                   const std::map<std::string, std::size_t>& sizes) {
  std::map<std::string, std::size_t> here;
  for (const std::string& id : ids) ++here[family_of(id)];
  std::vector<std::string> out;
  std::set<std::string> done;
  for (const std::string& id : ids) {
    const std::string family = family_of(id);
    if (here[family] != sizes.at(family) || here[family] == 1)
      out.push_back(id);
    else if (done.insert(family).second)
      out.push_back(family + ".*");
  }
  return out;
}

/// The unit that an evidence key carries last.
std::optional<Unit> unit_of_key(std::string_view key) {
  constexpr std::pair<std::string_view, Unit> endings[] = {
      {"_ratio", Unit::ratio}, {"_ns", Unit::ns}, {"_count", Unit::count}, {"_bytes", Unit::bytes}};
  for (const auto& [ending, unit] : endings)
    if (key.ends_with(ending)) return unit;
  return std::nullopt;
}

std::string evidence_value(const std::string& key, const Evidence::mapped_type& value) {
  constexpr std::size_t text_cells_max = 70;
  if (const auto* text = std::get_if<std::string>(&value)) return shortened(*text, text_cells_max);
  const double number = std::holds_alternative<double>(value) ? std::get<double>(value)
                                                              : static_cast<double>(std::get<std::int64_t>(value));
  return human(number, unit_of_key(key).value_or(Unit::count));
}

std::string evidence_name(std::string key) {
  if (unit_of_key(key)) key.resize(key.rfind('_'));
  std::replace(key.begin(), key.end(), '_', ' ');
  return key;
}

}  // namespace

std::string rank_title(const RankReport& rank) {
  return rank.world_size > 0 ? fmt::format("rank {} of {}", rank.rank, rank.world_size)
                             : fmt::format("rank {}", rank.rank);
}

Facts rank_facts(const RankReport& rank) {
  Facts facts = {{"trace", trace_text(rank.trace)}, {"GPUs", gpus_text(rank.environment)}};
  std::vector<std::string> software;
  add_known(software, "driver", rank.environment.driver);
  add_known(software, "CUDA", rank.environment.cuda);
  add_known(software, "NCCL", rank.environment.nccl);
  add_known(software, "framework", rank.environment.framework);
  if (!software.empty()) facts.emplace_back("software", fmt::format("{}", fmt::join(software, ", ")));
  facts.emplace_back("window", window_text(rank));
  return facts;
}

std::vector<Figure> figures(const RankReport& rank) {
  constexpr std::pair<const char*, const char*> rows[] = {{"utilization", "gpu.utilization"},
                                                          {"compute", "gpu.compute"},
                                                          {"exposed comm", "gpu.exposed_comm"},
                                                          {"exposed copies", "gpu.exposed_memory"},
                                                          {"idle", "gpu.idle"}};
  std::vector<Figure> out;
  for (const auto& [label, metric] : rows) {
    Figure figure{label, metric, std::nullopt, {}};
    const Measurement* row = measurement(rank, metric);
    if (row != nullptr && row->value) figure.share = as_double(*row->value);
    if (row != nullptr && row->not_measured) figure.note = word_of(reasons, *row->not_measured);
    if (figure.metric == "gpu.idle" && figure.share) figure.note = idle_causes_text(rank);
    out.push_back(std::move(figure));
  }
  return out;
}

Grid idle_grid(const RankReport& rank, std::size_t rows_max) {
  Grid grid{{"idle because of", "in phase", "time", "of the window"}, {}, 2};
  const double whole = device_time(rank);
  for (const findings::Term& term : rank.breakdown) {
    if (term.kind != findings::TermKind::idle || grid.rows.size() == rows_max) continue;
    grid.rows.push_back({std::string(word(term.cause)), term.name.empty() ? "–" : term.name, human(term.length),
                         human(static_cast<double>(term.length.count()) / whole, Unit::ratio)});
  }
  return grid;
}

Grid communication_grid(const RankReport& rank) {
  Grid grid{{"communication", "calls", "mean", "p95", "exposed", "message", "bus bandwidth"}, {}, 1};
  for (const timeline::Collective collective : timeline::collectives) {
    const std::string kind(timeline::word(collective));
    if (!is_measured(rank, kind + ".count")) continue;
    grid.rows.push_back({kind, shown(rank, kind + ".count"), shown(rank, kind + ".time_mean"),
                         shown(rank, kind + ".time_p95"), shown(rank, kind + ".exposed_share"),
                         shown(rank, kind + ".bytes_mean"), shown(rank, kind + ".busbw")});
  }
  return grid;
}

Facts other_facts(const RankReport& rank) {
  Facts facts = {{"step", measured_text(rank, {{"mean", "step.time_mean"},
                                               {"p50", "step.time_p50"},
                                               {"p95", "step.time_p95"},
                                               {"deviation", "step.time_cv"}})},
                 {"host to device", measured_text(rank, {{"busy", "memcpy.h2d_share"},
                                                         {"hidden", "memcpy.h2d_overlap"},
                                                         {"at", "memcpy.h2d_bandwidth"},
                                                         {"per step", "memcpy.h2d_bytes_per_step"},
                                                         {"pageable", "memcpy.pageable_share"}})},
                 {"device to host",
                  measured_text(rank, {{"busy", "memcpy.d2h_share"}, {"per step", "memcpy.d2h_bytes_per_step"}})},
                 {"blocking calls", measured_text(rank, {{"host time", "sync.share"},
                                                         {"per step", "sync.time_per_step"},
                                                         {"calls a step", "sync.count_per_step"}})},
                 {"launches", measured_text(rank, {{"kernels a step", "launch.count_per_step"},
                                                   {"median kernel", "launch.kernel_p50"},
                                                   {"median delay", "launch.delay_p50"}})}};
  for (const Measurement& row : rank.measurements)
    if (is_custom(row.metric) && row.value) facts.emplace_back(row.metric, human(*row.value, row.unit));
  facts.erase(std::remove_if(facts.begin(), facts.end(), [](const auto& fact) { return fact.second.empty(); }),
              facts.end());
  return facts;
}

Grid kernel_grid(const RankReport& rank, std::size_t rows_max) {
  Grid grid{{"kernel", "kind", "calls", "total", rank.window ? "of the window" : "of the kernels"}, {}, 2};
  for (const metrics::KernelRow& row : rank.kernels) {
    if (grid.rows.size() == rows_max) break;
    const bool rest = &row == &rank.kernels.back() && row.name == rest_word;
    grid.rows.push_back({row.name, rest ? "–" : std::string(word(row.kind)), std::to_string(row.count),
                         human(row.total), human(row.share, Unit::ratio)});
  }
  return grid;
}

Grid run_grid(const Report& report) {
  Grid grid{{"metric", "mean", "least", "rank", "greatest", "rank"}, {}, 1};
  for (const metrics::RunMeasurement& row : report.measurements) {
    if (!row.mean.value || !tells_ranks_apart(row.mean.metric)) continue;
    const Unit unit = row.mean.unit;
    grid.rows.push_back({row.mean.metric, human(*row.mean.value, unit), human(row.min, unit),
                         std::to_string(row.min_rank), human(row.max, unit), std::to_string(row.max_rank)});
  }
  return grid;
}

std::string evidence_text(const Finding& finding) {
  std::vector<std::string> parts;
  if (finding.count > 1) parts.push_back(fmt::format("{} times", finding.count));
  if (finding.device) parts.push_back(fmt::format("device {}", *finding.device));
  for (const auto& [key, value] : finding.evidence)
    parts.push_back(fmt::format("{} {}", evidence_name(key), evidence_value(key, value)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

Facts not_measured_facts(const RankReport& rank) {
  std::map<NotMeasured, std::vector<std::string>> by_reason;
  std::map<std::string, std::size_t> family_sizes;
  for (const Measurement& row : rank.measurements) {
    ++family_sizes[family_of(row.metric)];
    if (row.not_measured) by_reason[*row.not_measured].push_back(row.metric);
  }
  Facts facts;
  for (const auto& [reason, ids] : by_reason)
    facts.emplace_back(word_of(reasons, reason), fmt::format("{}", fmt::join(collapsed(ids, family_sizes), ", ")));
  return facts;
}

}  // namespace traceweir::report
