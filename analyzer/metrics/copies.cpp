#include "analyzer/metrics/copies.hpp"

#include <utility>

#include "analyzer/metrics/occupancy.hpp"

namespace traceweir::metrics {
namespace {

using timeline::Direction;
using timeline::HostMemory;
using timeline::IntervalSet;
using timeline::Work;

constexpr std::size_t directions = std::tuple_size_v<decltype(RankView::copies)>;

const CopyTally& tally_of(const RankView& view, Direction direction) {
  return view.copies[static_cast<std::size_t>(direction)];
}

void add_copy(CopyTally& tally, const Work& work) {
  ++tally.count;
  tally.bytes.add(work.bytes);
  if (work.bytes > 0) tally.sized_duration.add((work.end - work.begin).count());
  if (work.host_memory == HostMemory::unknown) return;
  tally.knows_memory = true;
  tally.known_bytes.add(work.bytes);
  if (work.host_memory == HostMemory::pageable) tally.pageable_bytes.add(work.bytes);
}

void add_union(CopyTally& tally, const IntervalSet& united, const DeviceView& device) {
  const Nanos total = united.total();
  tally.united.add(total.count());
  if (total == Nanos{0}) return;
  const Nanos beside = united.intersected_with(device.running).total();
  tally.overlap_ratios += static_cast<double>(beside.count()) / static_cast<double>(total.count());
  ++tally.overlap_devices;
}

Value share(const RankView& view, Direction direction) {
  if (view.devices.empty()) return NotMeasured::no_gpu_work;
  return mean_share(view, tally_of(view, direction).united);
}

Value time_per_step(const RankView& view, Direction direction) {
  if (view.devices.empty()) return NotMeasured::no_gpu_work;
  return mean_per_step(view, tally_of(view, direction).united);
}

Value bytes_per_step(const RankView& view, Direction direction) {
  if (view.devices.empty()) return NotMeasured::no_gpu_work;
  const CopyTally& tally = tally_of(view, direction);
  const Value value = mean_per_step(view, tally.bytes);
  const bool unsized_copies = tally.count > 0 && tally.bytes.zero();
  return unsized_copies && !std::holds_alternative<NotMeasured>(value) ? NotMeasured::no_sizes : value;
}

}  // namespace

void tally_copies(RankView& view) {
  const Interval window = view.window->span;
  std::vector<std::vector<Interval>> spans(view.timeline->devices.size() * directions);
  for (const Work& work : view.timeline->work) {
    if (work.begin >= window.end) break;
    if (work.direction == Direction::none || work.kind != timeline::WorkKind::memory) continue;
    if (!touches(work, window)) continue;
    const auto direction = static_cast<std::size_t>(work.direction);
    spans[static_cast<std::size_t>(work.device) * directions + direction].push_back(work.span());
    if (work.begin >= window.begin) add_copy(view.copies[direction], work);
  }
  for (const DeviceView& device : view.devices) {
    for (std::size_t direction = 0; direction < directions; ++direction) {
      auto& of_device = spans[static_cast<std::size_t>(device.device) * directions + direction];
      if (of_device.empty()) continue;
      const IntervalSet united = IntervalSet::union_of(std::move(of_device)).clipped_to(window);
      add_union(view.copies[direction], united, device);
    }
  }
}

Value h2d_share(const RankView& view) { return share(view, Direction::h2d); }
Value d2h_share(const RankView& view) { return share(view, Direction::d2h); }
Value d2d_share(const RankView& view) { return share(view, Direction::d2d); }

Value h2d_overlap(const RankView& view) {
  if (view.devices.empty()) return NotMeasured::no_gpu_work;
  if (view.opaque_graphs) return NotMeasured::graph_opaque;
  const CopyTally& tally = tally_of(view, Direction::h2d);
  if (tally.overlap_devices == 0) return NotMeasured::no_copies;
  return tally.overlap_ratios / static_cast<double>(tally.overlap_devices);
}

Value h2d_time_per_step(const RankView& view) { return time_per_step(view, Direction::h2d); }
Value d2h_time_per_step(const RankView& view) { return time_per_step(view, Direction::d2h); }
Value d2d_time_per_step(const RankView& view) { return time_per_step(view, Direction::d2d); }
Value h2d_bytes_per_step(const RankView& view) { return bytes_per_step(view, Direction::h2d); }
Value d2h_bytes_per_step(const RankView& view) { return bytes_per_step(view, Direction::d2h); }

Value h2d_bandwidth(const RankView& view) {
  if (view.devices.empty()) return NotMeasured::no_gpu_work;
  const CopyTally& tally = tally_of(view, Direction::h2d);
  if (tally.count == 0) return NotMeasured::no_copies;
  if (tally.sized_duration.zero()) return NotMeasured::no_sizes;
  return tally.bytes.as_double() / tally.sized_duration.as_double();  // bytes per ns = 1e9 bytes/s
}

Value pageable_share(const RankView& view) {
  if (view.devices.empty()) return NotMeasured::no_gpu_work;
  const CopyTally& h2d = tally_of(view, Direction::h2d);
  const CopyTally& d2h = tally_of(view, Direction::d2h);
  if (h2d.count + d2h.count == 0) return NotMeasured::no_copies;
  if (!h2d.knows_memory && !d2h.knows_memory) return NotMeasured::unknown_memory_kind;
  Sum known = h2d.known_bytes;
  known.add(d2h.known_bytes);
  if (known.zero()) return NotMeasured::no_sizes;
  Sum pageable = h2d.pageable_bytes;
  pageable.add(d2h.pageable_bytes);
  return pageable.as_double() / known.as_double();
}

}  // namespace traceweir::metrics
