#include "analyzer/metrics/occupancy.hpp"

#include <algorithm>
#include <utility>

#include "analyzer/core/assert.hpp"

namespace traceweir::metrics {
namespace {

using timeline::IntervalSet;
using timeline::WorkKind;

/// The spans of one device, cut to the window, by WorkKind. Work is sorted, so these are too.
struct DeviceSpans {
  std::array<std::vector<Interval>, 4> by_kind;
  bool touched = false;

  [[nodiscard]] IntervalSet take(WorkKind kind) {
    return IntervalSet::union_of(std::move(by_kind[static_cast<std::size_t>(kind)]));
  }
};

DeviceView device_view(timeline::DeviceIndex index, const timeline::Device& device, DeviceSpans spans,
                       Interval window) {
  DeviceView view;
  view.device = index;
  IntervalSet known = spans.take(WorkKind::compute);
  const IntervalSet graphs = spans.take(WorkKind::graph);
  DeviceTimes& times = view.times;
  times.device = device.ordinal;
  times.gpu = device.gpu;
  times.compute = known.total();
  view.comm = spans.take(WorkKind::comm);
  view.memory = spans.take(WorkKind::memory);
  view.graph = graphs.without(known);
  view.compute = graphs.empty() ? std::move(known) : known.united_with(graphs);
  view.running = view.compute.united_with(view.comm);
  view.busy = view.running.united_with(view.memory);
  view.exposed_comm = view.comm.without(view.compute);
  view.exposed_memory = view.memory.without(view.running);
  times.graph = view.graph.total();
  times.exposed_comm = view.exposed_comm.total();
  times.exposed_memory = view.exposed_memory.total();
  times.idle = window.length() - view.busy.total();
  TRACEWEIR_ASSERT(times.compute + times.graph + times.exposed_comm + times.exposed_memory + times.idle ==
                   window.length());
  return view;
}

using Set = IntervalSet DeviceView::*;

Sum total_of(const RankView& view, Set set) {
  Sum sum;
  for (const DeviceView& device : view.devices) sum.add((device.*set).total().count());
  return sum;
}

Value share_of_set(const RankView& view, Set set) {
  if (view.devices.empty()) return NotMeasured::no_gpu_work;
  return mean_share(view, total_of(view, set));
}

/// Of what opaque graphs may hide.
Value visible_share(const RankView& view, Set set) {
  if (view.opaque_graphs) return NotMeasured::graph_opaque;
  return share_of_set(view, set);
}

}  // namespace

bool touches(const timeline::Work& work, Interval window) {
  if (work.begin >= window.end) return false;
  return work.end > window.begin || work.begin >= window.begin;
}

std::vector<DeviceView> device_views(const timeline::Timeline& timeline, Interval window) {
  std::vector<DeviceSpans> spans(timeline.devices.size());
  std::vector<std::array<std::size_t, 4>> counts(timeline.devices.size());
  for (const timeline::Work& work : timeline.work)
    ++counts[static_cast<std::size_t>(work.device)][static_cast<std::size_t>(work.kind)];
  for (std::size_t device = 0; device < spans.size(); ++device)
    for (std::size_t kind = 0; kind < counts[device].size(); ++kind)
      spans[device].by_kind[kind].reserve(counts[device][kind]);
  for (const timeline::Work& work : timeline.work) {
    if (work.begin >= window.end) break;
    if (!touches(work, window)) continue;
    DeviceSpans& device = spans[static_cast<std::size_t>(work.device)];
    device.touched = true;
    device.by_kind[static_cast<std::size_t>(work.kind)].push_back(
        {std::max(work.begin, window.begin), std::min(work.end, window.end)});
  }
  std::vector<DeviceView> views;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (!spans[i].touched) continue;
    const auto index = static_cast<timeline::DeviceIndex>(i);
    views.push_back(device_view(index, timeline.devices[i], std::move(spans[i]), window));
  }
  return views;
}

double mean_share(const RankView& view, const Sum& length) {
  const double devices = static_cast<double>(view.devices.size());
  return length.as_double() / (devices * static_cast<double>(view.window->span.length().count()));
}

Value mean_per_step(const RankView& view, const Sum& sum) {
  if (!view.window->steps) return NotMeasured::no_steps;
  return sum.as_double() / (static_cast<double>(view.devices.size()) * static_cast<double>(*view.window->steps));
}

Value gpu_utilization(const RankView& view) { return share_of_set(view, &DeviceView::running); }
Value gpu_compute(const RankView& view) { return visible_share(view, &DeviceView::compute); }
Value gpu_exposed_comm(const RankView& view) { return visible_share(view, &DeviceView::exposed_comm); }
Value gpu_exposed_memory(const RankView& view) { return visible_share(view, &DeviceView::exposed_memory); }
Value comm_share(const RankView& view) { return visible_share(view, &DeviceView::comm); }

Value gpu_idle(const RankView& view) {
  if (view.devices.empty()) return NotMeasured::no_gpu_work;
  Sum idle;
  for (const DeviceView& device : view.devices) idle.add(device.times.idle.count());
  return mean_share(view, idle);
}

Value comm_overlap(const RankView& view) {
  if (view.devices.empty()) return NotMeasured::no_gpu_work;
  if (view.opaque_graphs) return NotMeasured::graph_opaque;
  double ratios = 0;
  std::int64_t devices = 0;
  for (const DeviceView& device : view.devices) {
    const Nanos comm = device.comm.total();
    if (comm == Nanos{0}) continue;
    ratios += static_cast<double>((comm - device.times.exposed_comm).count()) / static_cast<double>(comm.count());
    ++devices;
  }
  if (devices == 0) return NotMeasured::no_comm;
  return ratios / static_cast<double>(devices);
}

Value comm_exposed_per_step(const RankView& view) {
  if (view.devices.empty()) return NotMeasured::no_gpu_work;
  if (view.opaque_graphs) return NotMeasured::graph_opaque;
  return mean_per_step(view, total_of(view, &DeviceView::exposed_comm));
}

}  // namespace traceweir::metrics
