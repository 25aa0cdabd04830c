// The report from JSON that anybody may have written. Keys that this version does not know are ignored (the contract
// allows adding some); types, ranges and words are not negotiable.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyzer/findings/wide.hpp"
#include "analyzer/report/json_node.hpp"
#include "analyzer/report/report.hpp"
#include "analyzer/report/report_words.hpp"
#include "analyzer/report/rest.hpp"

namespace traceweir::report {
namespace {

using findings::Wide;
using metrics::Measurement;

// What a report may hold. The size of the text bounds all of it; these name what would be absurd.
constexpr std::size_t rows_max = 10'000;
constexpr std::size_t evidence_max = 64;
constexpr std::size_t advice_bytes_max = 1024;
constexpr std::size_t metric_bytes_max = 128;
constexpr std::int64_t number_max = 1'000'000'000;        // ranks, devices, steps
constexpr std::int64_t time_max = std::int64_t{1} << 62;  // as the timeline has it: no difference overflows

Nanos nanos(const Node& node) { return Nanos{node.amount()}; }

double real(const Node& node) { return as_double(node.number()); }

/// Lower-case letters, digits, dots, dashes and underscores: what a metric's id is made of.
bool is_metric_id(std::string_view id) {
  return !id.empty() && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  });
}

std::string metric_of(const Node& node) {
  std::string id = node.text(metric_bytes_max);
  if (!is_metric_id(id)) node.fail("no id of a metric");
  return id;
}

/// One of the units that we measure in; others come with metrics of the job's own only.
std::optional<Unit> own_unit_of(std::string_view text) {
  for (const Unit& unit : {Unit::ratio, Unit::ns, Unit::count, Unit::bytes, Unit::gb_per_s})
    if (word(unit) == text) return unit;
  return std::nullopt;
}

Measurement measurement_of(const Node& node) {
  Measurement out;
  out.metric = metric_of(node["metric"]);
  out.unit = node["unit"].word(is_custom(out.metric) ? &unit_of : &own_unit_of);
  out.better = node["better"].word(&better_of);
  if (!node["value"].is_null()) out.value = node["value"].number();
  if (!node["not_measured"].is_null()) out.not_measured = node["not_measured"].word(&not_measured_of);
  if (out.value.has_value() == out.not_measured.has_value())
    node["value"].fail("either a value or not_measured is needed");
  const bool counts_something = out.unit != Unit::ratio && !is_custom(out.metric);
  if (out.value && counts_something && as_double(*out.value) < 0) node["value"].fail("below 0");
  const MetricInfo* listed = find_metric(out.metric);
  const auto info = listed != nullptr ? std::optional(*listed) : family_member(out.metric);
  if (info && info->unit != out.unit)
    node["unit"].fail(fmt::format("{} is measured in {}", out.metric, word(info->unit)));
  return out;
}

/// Refuses a second row of one metric: which one counts would be anybody's guess.
void once(std::set<std::string>& seen, const Node& node, const std::string& metric) {
  if (!seen.insert(metric).second) node.fail("a second row of " + metric);
}

metrics::RunMeasurement run_measurement_of(const Node& node) {
  metrics::RunMeasurement out;
  out.mean = measurement_of(node);
  if (!out.mean.value) return out;
  out.min = real(node["min"]);
  out.max = real(node["max"]);
  out.min_rank = node["min_rank"].integer(0, number_max);
  out.max_rank = node["max_rank"].integer(0, number_max);
  return out;
}

TraceFacts trace_of(const Node& node) {
  TraceFacts out{.format = node["format"].text(),
                 .compression = node["compression"].text(),
                 .bytes = node["bytes"].amount(),
                 .sha256 = node["sha256"].text_or_null(),
                 .producer = node["producer"].text_or_null(),
                 .name = node["name"].text_or_null()};
  const bool hex = std::all_of(out.sha256.begin(), out.sha256.end(),
                               [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  if (!out.sha256.empty() && (out.sha256.size() != 64 || !hex))
    node["sha256"].fail("64 lower-case hex digits are needed");
  return out;
}

EnvironmentFacts environment_of(const Node& node) {
  EnvironmentFacts out;
  node["gpus"].each(rows_max, [&](const Node& gpu) { out.gpus.push_back(gpu.text()); });
  out.gpu_count = node["gpu_count"].integer(0, number_max);
  out.driver = node["driver"].text_or_null();
  out.cuda = node["cuda"].text_or_null();
  out.nccl = node["nccl"].text_or_null();
  out.framework = node["framework"].text_or_null();
  out.graph_mode = timeline::word(node["graph_mode"].word(&timeline::graph_mode_of));
  return out;
}

std::optional<metrics::Window> window_of(const Node& node) {
  if (node.is_null()) return std::nullopt;
  metrics::Window out;
  out.kind = node["kind"].word(&metrics::window_kind_of);
  const Nanos begin{node["start_ns"].integer(1 - time_max, time_max - 1)};
  const Nanos length{node["length_ns"].integer(1, std::numeric_limits<std::int64_t>::max())};
  if (length.count() > time_max - begin.count()) node["length_ns"].fail("past the end of time");
  out.span = {begin, Nanos{std::min(length.count(), time_max - begin.count())} + begin};
  if (!node["steps"].is_null()) out.steps = node["steps"].integer(0, number_max);
  out.skipped_steps = node["skipped_steps"].integer(0, number_max);
  return out;
}

/// Refuses parts that do not add up to `whole`: the identities are what explanations are made of.
void adds_up(const Node& node, Wide sum, Wide whole) {
  if (sum != whole) node.fail("the parts do not add up");
}

DeviceReport device_of(const Node& node, const std::optional<metrics::Window>& window) {
  DeviceReport out{.times = {.device = node["device"].integer(-number_max, number_max),
                             .gpu = node["gpu"].text_or_null(),
                             .compute = nanos(node["compute_ns"]),
                             .graph = nanos(node["graph_ns"]),
                             .exposed_comm = nanos(node["exposed_comm_ns"]),
                             .exposed_memory = nanos(node["exposed_memory_ns"]),
                             .idle = nanos(node["idle_ns"])},
                   .idle_causes = {}};
  Wide causes = 0;
  constexpr findings::IdleCause all[] = {findings::IdleCause::input, findings::IdleCause::sync,
                                         findings::IdleCause::launch, findings::IdleCause::dependency,
                                         findings::IdleCause::unknown};
  const Node parts = node["idle_causes_ns"];
  for (const auto cause : all) {
    out.idle_causes[cause] = nanos(parts[findings::word(cause)]);
    causes += out.idle_causes[cause].count();
  }
  adds_up(parts, causes, out.times.idle.count());
  const metrics::DeviceTimes& times = out.times;
  Wide sum = 0;
  for (const Nanos part : {times.compute, times.graph, times.exposed_comm, times.exposed_memory, times.idle})
    sum += part.count();
  adds_up(node, sum, window ? window->span.length().count() : 0);
  return out;
}

findings::Term term_of(const Node& node) {
  findings::Term out{.kind = node["term"].word(&findings::term_kind_of), .name = {}};
  switch (out.kind) {
    case findings::TermKind::idle:
      out.cause = node["cause"].word(&findings::idle_cause_of);
      out.name = node["phase"].text_or_null();
      break;
    case findings::TermKind::compute:
      out.name = node["name"].text();
      break;
    case findings::TermKind::graph:
      break;
    case findings::TermKind::exposed_comm:
      out.collective = node["kind"].word(&timeline::collective_of);
      out.bytes = node["bytes"].amount_or_null();
      break;
    case findings::TermKind::exposed_memory:
      out.name = node["direction"].text();
      break;
  }
  out.length = nanos(node["ns"]);
  return out;
}

metrics::StepValues step_of(const Node& node) {
  metrics::StepValues out{.index = node["index"].integer(0, number_max),
                          .name = node["name"].text(),
                          .length = nanos(node["length_ns"]),
                          .values = {}};
  node["values"].each_member(evidence_max, [&](const std::string& metric, const Node& value) {
    if (!is_metric_id(metric) || metric.size() > metric_bytes_max) value.fail("no id of a metric");
    out.values[metric] = real(value);
  });
  return out;
}

metrics::KernelRow kernel_of(const Node& node) {
  metrics::KernelRow out{.name = node["name"].text(),
                         .kind = timeline::WorkKind::compute,
                         .count = node["count"].amount(),
                         .total = nanos(node["total_ns"]),
                         .share = real(node["share"])};
  if (out.name != rest_word || !node["kind"].is_null()) out.kind = node["kind"].word(&work_kind_of);
  return out;
}

metrics::CollectiveRow collective_of(const Node& node) {
  return {.kind = node["kind"].word(&timeline::collective_of),
          .bytes = node["bytes"].amount_or_null(),
          .count = node["count"].amount(),
          .total = nanos(node["total_ns"]),
          .min = nanos(node["min_ns"]),
          .max = nanos(node["max_ns"]),
          .group_size = node["group_size"].amount_or_null(),
          .dtype = node["dtype"].text_or_null()};
}

metrics::MatchedRow matched_of(const Node& node) {
  metrics::MatchedRow out{.kind = node["kind"].word(&timeline::collective_of),
                          .bytes = node["bytes"].amount_or_null(),
                          .matched = node["matched"].amount(),
                          .transfer = nanos(node["transfer_ns"]),
                          .calls = node["calls"].amount(),
                          .total = nanos(node["total_ns"])};
  if (out.matched == 0 || out.calls < out.matched) node["matched"].fail("no number of matched calls");
  return out;
}

metrics::PhaseRow phase_of(const Node& node) {
  return {.name = node["name"].text(),
          .count = node["count"].amount(),
          .host = nanos(node["host_ns"]),
          .gpu = nanos(node["gpu_ns"])};
}

Finding finding_of(const Node& node) {
  Finding out{.code = node["code"].word(&finding_code_of),
              .severity = node["severity"].word(&severity_of),
              .device = std::nullopt,
              .count = node["count"].amount(),
              .evidence = {},
              .advice = node["advice"].text(advice_bytes_max)};
  if (!node["device"].is_null()) out.device = node["device"].integer(-number_max, number_max);
  node["evidence"].each_member(evidence_max, [&](const std::string& key, const Node& value) {
    auto& kept = out.evidence[clean_text(key, metric_bytes_max)];
    if (value.is_text())
      kept = value.text();
    else
      std::visit([&](auto number) { kept = number; }, value.number());
  });
  return out;
}

/// Over several devices a term may be longer than any time that is written down; then it is the longest (saturated).
void check_breakdown(const Node& node, const RankReport& rank) {
  Wide sum = 0;
  bool full = false;
  for (const findings::Term& term : rank.breakdown) {
    sum += term.length.count();
    full = full || term.length == Nanos::max();
  }
  const Wide length = rank.window ? rank.window->span.length().count() : 0;
  const Wide whole = length * Wide{rank.environment.gpu_count};
  adds_up(node, full ? std::max(sum, whole) : sum, whole);
}

template <typename Row, typename Read>
void read_rows(const Node& node, std::vector<Row>& rows, Read read, std::size_t most = rows_max) {
  node.each(most, [&](const Node& row) { rows.push_back(read(row)); });
}

RankReport rank_of(const Node& node) {
  RankReport out;
  out.rank = node["rank"].integer(0, number_max);
  out.world_size = node["world_size"].is_null() ? 0 : node["world_size"].integer(0, number_max);
  out.trace = trace_of(node["trace"]);
  out.environment = environment_of(node["environment"]);
  out.window = window_of(node["window"]);
  read_rows(node["devices"], out.devices, [&](const Node& row) { return device_of(row, out.window); });
  std::set<std::string> metrics_seen;
  read_rows(
      node["measurements"], out.measurements,
      [&](const Node& row) {
        Measurement measurement = measurement_of(row);
        once(metrics_seen, row, measurement.metric);
        return measurement;
      },
      measurements_max);
  read_rows(node["breakdown"], out.breakdown, &term_of);
  check_breakdown(node["breakdown"], out);
  read_rows(node["steps"], out.steps, &step_of);
  read_rows(node["kernels"], out.kernels, &kernel_of);
  read_rows(node["collectives"], out.collectives, &collective_of);
  read_rows(node["phases"], out.phases, &phase_of);
  read_rows(node["findings"], out.findings, &finding_of);
  return out;
}

Report report_of(const Node& node) {
  Report out;
  if (node["schema"].text() != schema_word) node["schema"].fail(fmt::format("{} is needed", schema_word));
  const Node analyzer = node["analyzer"];
  out.analyzer_version = analyzer["version"].text();
  out.classifier = static_cast<int>(analyzer["classifier"].integer(0, number_max));
  node["ranks"].each(rows_max, [&](const Node& row) {
    out.ranks.push_back(rank_of(row));
    const std::size_t count = out.ranks.size();
    if (count > 1 && out.ranks[count - 2].rank >= out.ranks[count - 1].rank)
      row["rank"].fail("ranks must be listed once each, in order");
  });
  if (out.ranks.empty()) node["ranks"].fail("at least one rank is needed");
  const Node run = node["run"];
  std::set<std::string> metrics_seen;
  read_rows(
      run["measurements"], out.measurements,
      [&](const Node& row) {
        metrics::RunMeasurement measurement = run_measurement_of(row);
        once(metrics_seen, row, measurement.mean.metric);
        return measurement;
      },
      measurements_max);
  if (!run["collectives"].is_null()) read_rows(run["collectives"], out.collectives, &matched_of);
  read_rows(run["findings"], out.findings, &finding_of);
  return out;
}

}  // namespace

Result<Report> from_json(std::string_view text) {
  if (text.size() > report_bytes_max)
    return fail(ErrorCode::bad_body, fmt::format("a report of more than {} bytes", report_bytes_max));
  TRACEWEIR_TRY(document, parse_bounded(text));
  std::optional<Error> problem;
  Report report = report_of(Node(document, problem));
  if (problem) return tl::unexpected(std::move(*problem));
  if (text.size() > report_bytes_for(report.ranks.size()))
    return fail(ErrorCode::bad_body, fmt::format("a report of {} ranks of more than {} bytes", report.ranks.size(),
                                                 report_bytes_for(report.ranks.size())));
  return report;
}

}  // namespace traceweir::report
