// The report as JSON. Key order is the contract's (docs: the two documents).
#include <cmath>

#include "analyzer/core/assert.hpp"
#include "analyzer/report/ordered_json.hpp"
#include "analyzer/report/report.hpp"
#include "analyzer/report/report_words.hpp"
#include "analyzer/report/rest.hpp"

namespace traceweir::report {
namespace {

using Json = OrderedJson;
using metrics::Measurement;

/// Unknown is null, never an empty text or a zero.
Json known(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }
Json known(std::int64_t number) { return number == 0 ? Json(nullptr) : Json(number); }

Json json_of(const Number& number) {
  TRACEWEIR_ASSERT(std::isfinite(as_double(number)));
  return std::visit([](auto value) { return Json(value); }, number);
}

/// A number that is kept as a double, in the unit's own form: whole nanoseconds, counts and bytes have no fraction.
Json json_of(double value, Unit unit) {
  TRACEWEIR_ASSERT(std::isfinite(value));
  constexpr double exact_max = 9007199254740992.0;  // 2^53
  const bool whole = unit == Unit::ns || unit == Unit::count || unit == Unit::bytes;
  if (whole && std::floor(value) == value && std::abs(value) < exact_max) return static_cast<std::int64_t>(value);
  return value;
}

Json json_of(const Measurement& measurement) {
  Json out;
  out["metric"] = measurement.metric;
  out["value"] = measurement.value ? json_of(*measurement.value) : Json(nullptr);
  out["unit"] = word(measurement.unit);
  out["better"] = word(measurement.better);
  if (measurement.not_measured) out["not_measured"] = word(*measurement.not_measured);
  return out;
}

Json json_of(const metrics::RunMeasurement& run) {
  Json out = json_of(run.mean);
  if (!run.mean.value) return out;
  out["min"] = json_of(run.min, run.mean.unit);
  out["max"] = json_of(run.max, run.mean.unit);
  out["min_rank"] = run.min_rank;
  out["max_rank"] = run.max_rank;
  return out;
}

Json json_of(const TraceFacts& trace) {
  return {{"format", trace.format},        {"compression", trace.compression},  {"bytes", trace.bytes},
          {"sha256", known(trace.sha256)}, {"producer", known(trace.producer)}, {"name", known(trace.name)}};
}

Json json_of(const EnvironmentFacts& environment) {
  return {{"gpus", environment.gpus},
          {"gpu_count", environment.gpu_count},
          {"driver", known(environment.driver)},
          {"cuda", known(environment.cuda)},
          {"nccl", known(environment.nccl)},
          {"framework", known(environment.framework)},
          {"graph_mode", environment.graph_mode}};
}

Json json_of(const std::optional<metrics::Window>& window) {
  if (!window) return nullptr;
  return {{"kind", word(window->kind)},
          {"start_ns", window->span.begin.count()},
          {"length_ns", window->span.length().count()},
          {"steps", window->steps ? Json(*window->steps) : Json(nullptr)},
          {"skipped_steps", window->skipped_steps}};
}

Json json_of(const DeviceReport& device) {
  Json causes;
  for (const auto& [cause, length] : device.idle_causes) causes[std::string(word(cause))] = length.count();
  const metrics::DeviceTimes& times = device.times;
  return {{"device", times.device},
          {"gpu", known(times.gpu)},
          {"compute_ns", times.compute.count()},
          {"graph_ns", times.graph.count()},
          {"exposed_comm_ns", times.exposed_comm.count()},
          {"exposed_memory_ns", times.exposed_memory.count()},
          {"idle_ns", times.idle.count()},
          {"idle_causes_ns", std::move(causes)}};
}

Json json_of(const findings::Term& term) {
  Json out;
  out["term"] = word(term.kind);
  switch (term.kind) {
    case findings::TermKind::idle:
      out["cause"] = word(term.cause);
      out["phase"] = known(term.name);
      break;
    case findings::TermKind::compute:
      out["name"] = term.name;
      break;
    case findings::TermKind::graph:
      break;
    case findings::TermKind::exposed_comm:
      out["kind"] = word(term.collective);
      out["bytes"] = known(term.bytes);
      break;
    case findings::TermKind::exposed_memory:
      out["direction"] = term.name;
      break;
  }
  out["ns"] = term.length.count();
  return out;
}

Json json_of(const metrics::StepValues& step) {
  Json values = Json::object();
  for (const auto& [metric, value] : step.values) {
    const MetricInfo* info = find_metric(metric);
    values[metric] = json_of(value, info != nullptr ? info->unit : Unit::ratio);
  }
  return {
      {"index", step.index}, {"name", step.name}, {"length_ns", step.length.count()}, {"values", std::move(values)}};
}

Json json_of(const metrics::KernelRow& kernel, const metrics::KernelRow& last) {
  Json out;
  out["name"] = kernel.name;
  const bool rest = &kernel == &last && kernel.name == rest_word;
  if (!rest) out["kind"] = word(kernel.kind);
  out["count"] = kernel.count;
  out["total_ns"] = kernel.total.count();
  out["share"] = json_of(kernel.share, Unit::ratio);
  return out;
}

Json json_of(const metrics::CollectiveRow& row) {
  return {{"kind", word(row.kind)},
          {"bytes", known(row.bytes)},
          {"count", row.count},
          {"total_ns", row.total.count()},
          {"min_ns", row.min.count()},
          {"max_ns", row.max.count()},
          {"group_size", known(row.group_size)},
          {"dtype", known(row.dtype)}};
}

Json json_of(const metrics::MatchedRow& row) {
  return {{"kind", word(row.kind)}, {"bytes", known(row.bytes)},
          {"matched", row.matched}, {"transfer_ns", row.transfer.count()},
          {"calls", row.calls},     {"total_ns", row.total.count()}};
}

Json json_of(const metrics::PhaseRow& phase) {
  return {{"name", phase.name}, {"count", phase.count}, {"host_ns", phase.host.count()}, {"gpu_ns", phase.gpu.count()}};
}

Json json_of(const Finding& finding) {
  Json evidence = Json::object();
  for (const auto& [key, value] : finding.evidence)
    evidence[key] = std::visit([](const auto& v) { return Json(v); }, value);
  Json out;
  out["code"] = word(finding.code);
  out["severity"] = word(finding.severity);
  if (finding.device) out["device"] = *finding.device;
  out["count"] = finding.count;
  out["evidence"] = std::move(evidence);
  out["advice"] = finding.advice;
  return out;
}

Json json_of(const RankReport& rank);

template <typename Rows>
Json list_of(const Rows& rows) {
  Json out = Json::array();
  for (const auto& row : rows) out.push_back(json_of(row));
  return out;
}

Json list_of(const std::vector<metrics::KernelRow>& kernels) {
  Json out = Json::array();
  for (const metrics::KernelRow& kernel : kernels) out.push_back(json_of(kernel, kernels.back()));
  return out;
}

Json json_of(const RankReport& rank) {
  Json out;
  out["rank"] = rank.rank;
  out["world_size"] = known(rank.world_size);
  out["trace"] = json_of(rank.trace);
  out["environment"] = json_of(rank.environment);
  out["window"] = json_of(rank.window);
  out["devices"] = list_of(rank.devices);
  out["measurements"] = list_of(rank.measurements);
  out["breakdown"] = list_of(rank.breakdown);
  out["steps"] = list_of(rank.steps);
  out["kernels"] = list_of(rank.kernels);
  out["collectives"] = list_of(rank.collectives);
  out["phases"] = list_of(rank.phases);
  out["findings"] = list_of(rank.findings);
  return out;
}

std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json head_of(const Report& report) {
  Json out;
  out["schema"] = schema_word;
  out["analyzer"] = {{"version", report.analyzer_version}, {"classifier", report.classifier}};
  return out;
}

Json run_of(const Report& report) {
  return {{"measurements", list_of(report.measurements)},
          {"collectives", list_of(report.collectives)},
          {"findings", list_of(report.findings)}};
}

std::string indented(const Report& report, int indent) {
  Json out = head_of(report);
  out["ranks"] = list_of(report.ranks);
  out["run"] = run_of(report);
  return out.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string to_json(const Report& report, int indent) {
  if (indent >= 0) return indented(report, indent);
  // Rank by rank: a thousand of them as one document in memory would take ten times the text.
  std::string text = dumped(head_of(report));
  text.back() = ',';
  text += "\"ranks\":[";
  for (const RankReport& rank : report.ranks) {
    if (&rank != &report.ranks.front()) text += ',';
    text += dumped(json_of(rank));
  }
  return text + "],\"run\":" + dumped(run_of(report)) + "}";
}

}  // namespace traceweir::report
