#include "analyzer/metrics/metric_table.hpp"

#include <string>
#include <string_view>

#include "analyzer/metrics/collectives.hpp"
#include "analyzer/metrics/copies.hpp"
#include "analyzer/metrics/host.hpp"
#include "analyzer/metrics/named.hpp"
#include "analyzer/metrics/occupancy.hpp"
#include "analyzer/metrics/rows.hpp"
#include "analyzer/metrics/steps.hpp"
#include "analyzer/metrics/sums.hpp"

namespace traceweir::metrics {
namespace {

using timeline::Collective;

/// A metric of one rank, or one of a kind: `id` is then what follows `allreduce.`, and `{}` in `meaning` the kind.
struct Row {
  std::string_view id;
  Unit unit;
  Better better;
  std::string_view meaning;
  Value (*of_rank)(const RankView&) = nullptr;
  Value (*of_kind)(const RankView&, Collective) = nullptr;
  RunValue (*of_run)(const RunView&) = nullptr;
  RunValue (*of_kind_of_run)(const RunView&, Collective) = nullptr;
};

constexpr Row rank_row(std::string_view id, Unit unit, Better better, std::string_view meaning,
                       Value (*of)(const RankView&)) {
  return {id, unit, better, meaning, of, nullptr, nullptr, nullptr};
}
constexpr Row kind_row(std::string_view id, Unit unit, Better better, std::string_view meaning,
                       Value (*of)(const RankView&, Collective)) {
  return {id, unit, better, meaning, nullptr, of, nullptr, nullptr};
}
constexpr Row run_row(std::string_view id, Unit unit, Better better, std::string_view meaning,
                      RunValue (*of)(const RunView&)) {
  return {id, unit, better, meaning, nullptr, nullptr, of, nullptr};
}
constexpr Row kind_of_run_row(std::string_view id, Unit unit, Better better, std::string_view meaning,
                              RunValue (*of)(const RunView&, Collective)) {
  return {id, unit, better, meaning, nullptr, nullptr, nullptr, of};
}

/// The table itself, with words of its own.
namespace table {

constexpr Unit ratio = Unit::ratio, ns = Unit::ns, count = Unit::count, bytes = Unit::bytes, gb_per_s = Unit::gb_per_s;
constexpr Better none = Better::none, lower = Better::lower, higher = Better::higher;

constexpr Row device_rows[] = {
    rank_row("gpu.utilization", ratio, higher, "time in which a kernel runs", gpu_utilization),
    rank_row("gpu.compute", ratio, higher, "time in which a kernel that is no communication runs", gpu_compute),
    rank_row("gpu.exposed_comm", ratio, lower, "time of communication without compute", gpu_exposed_comm),
    rank_row("gpu.exposed_memory", ratio, lower, "time of copies and memsets without a kernel", gpu_exposed_memory),
    rank_row("gpu.idle", ratio, lower, "time in which nothing runs", gpu_idle),
    rank_row("comm.share", ratio, lower, "time in which communication runs", comm_share),
    rank_row("comm.overlap", ratio, higher, "part of the communication that runs beside compute", comm_overlap),
    rank_row("comm.exposed_per_step", ns, lower, "communication without compute, per step", comm_exposed_per_step),
};

constexpr Row kind_rows[] = {
    kind_row("time_mean", ns, lower, "mean duration of a call of kind {}, waiting included", kind_time_mean),
    kind_row("time_p50", ns, lower, "median duration of a call of kind {}", kind_time_p50),
    kind_row("time_p95", ns, lower, "95th percentile of the duration of a call of kind {}", kind_time_p95),
    kind_row("time_max", ns, lower, "longest call of kind {}", kind_time_max),
    kind_row("time_total", ns, none, "sum of the durations of the calls of kind {}", kind_time_total),
    kind_row("count", count, none, "calls of kind {}", kind_count),
    kind_row("share", ratio, lower, "time in which a call of kind {} runs", kind_share),
    kind_row("exposed_share", ratio, lower, "time of calls of kind {} without compute", kind_exposed_share),
    kind_row("time_per_step", ns, lower, "sum of the durations of kind {}, per step", kind_time_per_step),
    kind_row("count_per_step", count, none, "calls of kind {}, per step", kind_count_per_step),
    kind_row("exposed_per_step", ns, lower, "time of kind {} without compute, per step", kind_exposed_per_step),
    kind_row("bytes_mean", bytes, none, "mean message size of the sized calls of kind {}", kind_bytes_mean),
    kind_row("busbw", gb_per_s, higher, "median bus bandwidth (nccl-tests) of the sized calls of kind {}", kind_busbw),
    kind_of_run_row("transfer_mean", ns, lower,
                    "mean over matched calls of kind {} of the minimum over ranks: what the network took",
                    kind_transfer_mean),
    kind_of_run_row("matched_calls", count, none, "calls of kind {} that were matched between ranks",
                    kind_matched_calls),
    kind_of_run_row("wait_share", ratio, lower, "part of the duration of kind {} that is waiting for other ranks",
                    kind_wait_share),
};

constexpr Row other_rows[] = {
    rank_row("allreduce.small_share", ratio, lower, "share of the sized all-reduces with at most 2 MiB",
             allreduce_small_share),
    rank_row("memcpy.h2d_share", ratio, lower, "time in which a host-to-device copy runs", h2d_share),
    rank_row("memcpy.d2h_share", ratio, lower, "time in which a device-to-host copy runs", d2h_share),
    rank_row("memcpy.d2d_share", ratio, lower, "time in which a copy on the device runs", d2d_share),
    rank_row("memcpy.h2d_overlap", ratio, higher, "part of the host-to-device copies that runs beside kernels",
             h2d_overlap),
    rank_row("memcpy.h2d_time_per_step", ns, lower, "time of host-to-device copies, per step", h2d_time_per_step),
    rank_row("memcpy.d2h_time_per_step", ns, lower, "time of device-to-host copies, per step", d2h_time_per_step),
    rank_row("memcpy.d2d_time_per_step", ns, lower, "time of copies on the device, per step", d2d_time_per_step),
    rank_row("memcpy.h2d_bytes_per_step", bytes, none, "bytes copied from host to device, per step",
             h2d_bytes_per_step),
    rank_row("memcpy.d2h_bytes_per_step", bytes, none, "bytes copied from device to host, per step",
             d2h_bytes_per_step),
    rank_row("memcpy.h2d_bandwidth", gb_per_s, higher, "bytes over durations of host-to-device copies", h2d_bandwidth),
    rank_row("memcpy.pageable_share", ratio, lower, "pageable part of the bytes copied between host and device",
             pageable_share),
    rank_row("sync.share", ratio, lower, "host time in blocking calls, added over threads", sync_share),
    rank_row("sync.time_per_step", ns, lower, "host time in blocking calls, per step", sync_time_per_step),
    rank_row("sync.count_per_step", count, lower, "blocking calls, per step", sync_count_per_step),
    rank_row("alloc.count_per_step", count, lower, "device allocations and frees, per step", alloc_count_per_step),
    rank_row("launch.count_per_step", count, none, "kernels, per step", launch_count_per_step),
    rank_row("launch.kernel_p50", ns, none, "median duration of a kernel", launch_kernel_p50),
    rank_row("launch.delay_p50", ns, none, "median time from the end of a launching call to its kernel's start",
             launch_delay_p50),
    rank_row("step.time_mean", ns, lower, "window length over its steps", step_time_mean),
    rank_row("step.time_p50", ns, lower, "median period of a step", step_time_p50),
    rank_row("step.time_p95", ns, lower, "95th percentile of the period of a step", step_time_p95),
    rank_row("step.time_cv", ratio, lower, "deviation of the periods over their mean", step_time_cv),
    run_row("rank.compute_skew", ratio, lower, "(max - min) / mean of gpu.compute over ranks", compute_skew),
    run_row("rank.step_skew", ratio, lower, "(max - min) / mean of step.time_p50 over ranks", step_skew),
};

}  // namespace table

Metric metric_of(const Row& row) {
  const MetricInfo info{std::string(row.id), row.unit, row.better, std::string(row.meaning)};
  return {info, std::nullopt, row.of_rank, row.of_kind, row.of_run, row.of_kind_of_run};
}

Metric metric_of(const Row& row, Collective kind) {
  Metric metric = metric_of(row);
  const std::string name(word(kind));
  metric.kind = kind;
  metric.info.id = name + "." + metric.info.id;
  metric.info.meaning.replace(metric.info.meaning.find("{}"), 2, name);
  return metric;
}

std::vector<Metric> expanded() {
  std::vector<Metric> metrics;
  for (const Row& row : table::device_rows) metrics.push_back(metric_of(row));
  for (const Collective kind : timeline::collectives)
    for (const Row& row : table::kind_rows) metrics.push_back(metric_of(row, kind));
  for (const Row& row : table::other_rows) metrics.push_back(metric_of(row));
  return metrics;
}

Value value_of(const Metric& metric, const RankView& view) {
  if (view.timeline->sums) return value_from_sums(*view.timeline->sums, metric);
  if (!view.window) return NotMeasured::no_gpu_work;
  return metric.of_rank != nullptr ? metric.of_rank(view) : metric.of_kind(view, *metric.kind);
}

}  // namespace

std::span<const Metric> metric_table() {
  static const std::vector<Metric> metrics = expanded();
  return metrics;
}

std::span<const MetricInfo> catalog() {
  static const std::vector<MetricInfo> infos = [] {
    std::vector<MetricInfo> list;
    for (const Metric& metric : metric_table()) list.push_back(metric.info);
    return list;
  }();
  return infos;
}

Measurement measurement_of(const MetricInfo& info, const Value& value) {
  Measurement measurement{info.id, std::nullopt, info.unit, info.better, std::nullopt};
  if (const auto* reason = std::get_if<NotMeasured>(&value)) measurement.not_measured = *reason;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) measurement.value = *integer;
  if (const auto* real = std::get_if<double>(&value)) measurement.value = *real;
  return measurement;
}

Measurement in_base_unit(Measurement measurement) {
  const BaseUnit base = base_of(measurement.unit);
  const bool stays = base.factor == 1 && base.divisor == 1;
  if (measurement.value && !stays) measurement.value = as_double(*measurement.value) * base.factor / base.divisor;
  measurement.unit = base.unit;
  return measurement;
}

RankMeasures measure(const RankView& view) {
  RankMeasures measures;
  measures.window = view.window;
  for (const DeviceView& device : view.devices) measures.devices.push_back(device.times);
  for (const Metric& metric : metric_table())
    if (metric.one_rank()) measures.measurements.push_back(measurement_of(metric.info, value_of(metric, view)));
  for (const timeline::StatedMetric& stated : view.timeline->stated)
    measures.measurements.push_back({stated.id, stated.value, stated.unit, stated.better, std::nullopt});
  measures.steps = step_values(view);
  const auto& sums = view.timeline->sums;
  measures.kernels = sums ? kernel_rows_from_sums(*sums) : kernel_rows(view);
  measures.collectives = sums ? collective_rows_from_sums(*sums) : collective_rows(view);
  measures.phases = phase_rows(view);
  // From here on the catalogue is complete; what follows is named by the trace.

  for (Measurement& named : phase_shares(view, measures.phases)) measures.measurements.push_back(std::move(named));
  for (Measurement& named : counter_means(view)) measures.measurements.push_back(std::move(named));
  return measures;
}

}  // namespace traceweir::metrics
