// The report as JSON. Key order is the contract's (docs: the two documents).
#include <cmath>

#include "analyzer/core/assert.hpp"
#include "analyzer/report/json_text.hpp"
#include "analyzer/report/report.hpp"
#include "analyzer/report/report_words.hpp"
#include "analyzer/report/rest.hpp"

namespace traceweir::report {
namespace {

using metrics::Measurement;

/// Unknown is null, never an empty text or a zero.
std::optional<std::string_view> known(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<std::string_view>(text);
}
std::optional<std::int64_t> known(std::int64_t number) { return number == 0 ? std::nullopt : std::optional(number); }

template <typename... Of>
void say(JsonText& json, const std::variant<Of...>& value) {
  std::visit([&](const auto& of) { json.value(of); }, value);
}

void say_number(JsonText& json, const Number& number) {
  TRACEWEIR_ASSERT(std::isfinite(as_double(number)));
  say(json, number);
}

/// A number that is kept as a double, in the unit's own form: whole nanoseconds, counts and bytes have no fraction.
void say_number(JsonText& json, double value, Unit unit) {
  TRACEWEIR_ASSERT(std::isfinite(value));
  constexpr double exact_max = 9007199254740992.0;  // 2^53
  const bool whole = unit == Unit::ns || unit == Unit::count || unit == Unit::bytes;
  if (whole && std::floor(value) == value && std::abs(value) < exact_max)
    json.value(static_cast<std::int64_t>(value));
  else
    json.value(value);
}

void say_members(JsonText& json, const Measurement& measurement) {
  json.member("metric", measurement.metric);
  json.key("value");
  if (measurement.value)
    say_number(json, *measurement.value);
  else
    json.value(nullptr);
  json.member("unit", word(measurement.unit));
  json.member("better", word(measurement.better));
  if (measurement.not_measured) json.member("not_measured", word(*measurement.not_measured));
}

void say(JsonText& json, const Measurement& measurement) {
  json.object([&] { say_members(json, measurement); });
}

void say(JsonText& json, const metrics::RunMeasurement& run) {
  json.object([&] {
    say_members(json, run.mean);
    if (!run.mean.value) return;
    json.key("min");
    say_number(json, run.min, run.mean.unit);
    json.key("max");
    say_number(json, run.max, run.mean.unit);
    json.member("min_rank", run.min_rank);
    json.member("max_rank", run.max_rank);
  });
}

void say(JsonText& json, const TraceFacts& trace) {
  json.object([&] {
    json.member("format", trace.format);
    json.member("compression", trace.compression);
    json.member("bytes", trace.bytes);
    json.member("sha256", known(trace.sha256));
    json.member("producer", known(trace.producer));
    json.member("name", known(trace.name));
  });
}

void say(JsonText& json, const EnvironmentFacts& environment) {
  json.object([&] {
    json.key("gpus");
    json.array([&] {
      for (const std::string& gpu : environment.gpus) json.value(gpu);
    });
    json.member("gpu_count", environment.gpu_count);
    json.member("driver", known(environment.driver));
    json.member("cuda", known(environment.cuda));
    json.member("nccl", known(environment.nccl));
    json.member("framework", known(environment.framework));
    json.member("graph_mode", environment.graph_mode);
  });
}

void say(JsonText& json, const metrics::Window& window) {
  json.object([&] {
    json.member("kind", word(window.kind));
    json.member("start_ns", window.span.begin.count());
    json.member("length_ns", window.span.length().count());
    json.member("steps", window.steps);
    json.member("skipped_steps", window.skipped_steps);
  });
}

void say(JsonText& json, const DeviceReport& device) {
  const metrics::DeviceTimes& times = device.times;
  json.object([&] {
    json.member("device", times.device);
    json.member("gpu", known(times.gpu));
    json.member("compute_ns", times.compute.count());
    json.member("graph_ns", times.graph.count());
    json.member("exposed_comm_ns", times.exposed_comm.count());
    json.member("exposed_memory_ns", times.exposed_memory.count());
    json.member("idle_ns", times.idle.count());
    json.key("idle_causes_ns");
    json.object([&] {
      for (const auto& [cause, length] : device.idle_causes) json.member(word(cause), length.count());
    });
  });
}

void say_place(JsonText& json, const findings::Term& term) {
  switch (term.kind) {
    case findings::TermKind::idle:
      json.member("cause", word(term.cause));
      json.member("phase", known(term.name));
      break;
    case findings::TermKind::compute:
      json.member("name", term.name);
      break;
    case findings::TermKind::graph:
      break;
    case findings::TermKind::exposed_comm:
      json.member("kind", word(term.collective));
      json.member("bytes", known(term.bytes));
      break;
    case findings::TermKind::exposed_memory:
      json.member("direction", term.name);
      break;
  }
}

void say(JsonText& json, const findings::Term& term) {
  json.object([&] {
    json.member("term", word(term.kind));
    say_place(json, term);
    json.member("ns", term.length.count());
  });
}

void say(JsonText& json, const metrics::StepValues& step) {
  json.object([&] {
    json.member("index", step.index);
    json.member("name", step.name);
    json.member("length_ns", step.length.count());
    json.key("values");
    json.object([&] {
      for (const auto& [metric, value] : step.values) {
        const MetricInfo* info = find_metric(metric);
        json.key(metric);
        say_number(json, value, info != nullptr ? info->unit : Unit::ratio);
      }
    });
  });
}

void say(JsonText& json, const metrics::KernelRow& kernel, const metrics::KernelRow& last) {
  const bool is_rest = &kernel == &last && kernel.name == rest_word;
  json.object([&] {
    json.member("name", kernel.name);
    if (!is_rest) json.member("kind", word(kernel.kind));
    json.member("count", kernel.count);
    json.member("total_ns", kernel.total.count());
    json.key("share");
    say_number(json, kernel.share, Unit::ratio);
  });
}

void say(JsonText& json, const metrics::CollectiveRow& row) {
  json.object([&] {
    json.member("kind", word(row.kind));
    json.member("bytes", known(row.bytes));
    json.member("count", row.count);
    json.member("total_ns", row.total.count());
    json.member("min_ns", row.min.count());
    json.member("max_ns", row.max.count());
    json.member("group_size", known(row.group_size));
    json.member("dtype", known(row.dtype));
  });
}

void say(JsonText& json, const metrics::MatchedRow& row) {
  json.object([&] {
    json.member("kind", word(row.kind));
    json.member("bytes", known(row.bytes));
    json.member("matched", row.matched);
    json.member("transfer_ns", row.transfer.count());
    json.member("calls", row.calls);
    json.member("total_ns", row.total.count());
  });
}

void say(JsonText& json, const metrics::PhaseRow& phase) {
  json.object([&] {
    json.member("name", phase.name);
    json.member("count", phase.count);
    json.member("host_ns", phase.host.count());
    json.member("gpu_ns", phase.gpu.count());
  });
}

void say(JsonText& json, const Finding& finding) {
  json.object([&] {
    json.member("code", word(finding.code));
    json.member("severity", word(finding.severity));
    if (finding.device) json.member("device", *finding.device);
    json.member("count", finding.count);
    json.key("evidence");
    json.object([&] {
      for (const auto& [key, value] : finding.evidence) {
        json.key(key);
        say(json, value);
      }
    });
    json.member("advice", finding.advice);
  });
}

void say(JsonText& json, const RankReport& rank);

template <typename Rows>
void say_list(JsonText& json, std::string_view key, const Rows& rows) {
  json.key(key);
  json.array([&] {
    for (const auto& row : rows) say(json, row);
  });
}

void say_list(JsonText& json, std::string_view key, const std::vector<metrics::KernelRow>& kernels) {
  json.key(key);
  json.array([&] {
    for (const metrics::KernelRow& kernel : kernels) say(json, kernel, kernels.back());
  });
}

template <typename Part>
void say_part(JsonText& json, std::string_view key, const Part& part) {
  json.key(key);
  say(json, part);
}

void say(JsonText& json, const RankReport& rank) {
  json.object([&] {
    json.member("rank", rank.rank);
    json.member("world_size", known(rank.world_size));
    say_part(json, "trace", rank.trace);
    say_part(json, "environment", rank.environment);
    if (rank.window)
      say_part(json, "window", *rank.window);
    else
      json.member("window", nullptr);
    say_list(json, "devices", rank.devices);
    say_list(json, "measurements", rank.measurements);
    say_list(json, "breakdown", rank.breakdown);
    say_list(json, "steps", rank.steps);
    say_list(json, "kernels", rank.kernels);
    say_list(json, "collectives", rank.collectives);
    say_list(json, "phases", rank.phases);
    say_list(json, "findings", rank.findings);
  });
}

}  // namespace

std::string to_json(const Report& report, int indent) {
  JsonText json(indent);
  json.object([&] {
    json.member("schema", schema_word);
    json.key("analyzer");
    json.object([&] {
      json.member("version", report.analyzer_version);
      json.member("classifier", report.classifier);
    });
    say_list(json, "ranks", report.ranks);
    json.key("run");
    json.object([&] {
      say_list(json, "measurements", report.measurements);
      say_list(json, "collectives", report.collectives);
      say_list(json, "findings", report.findings);
    });
  });
  return std::move(json).take();
}

}  // namespace traceweir::report
