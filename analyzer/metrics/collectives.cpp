#include "analyzer/metrics/collectives.hpp"

#include <algorithm>
#include <utility>

#include "analyzer/metrics/occupancy.hpp"

namespace traceweir::metrics {
namespace {

using timeline::Collective;
using timeline::IntervalSet;
using timeline::Work;

/// n ranks move factor × size over each link. Source: nccl-tests, doc/PERFORMANCE.md.
enum class Factor { twice_others, others, one, undefined };
struct BusFactor {
  Collective kind;
  Factor factor;
};
constexpr BusFactor bus_factors[] = {
    {Collective::allreduce, Factor::twice_others}, {Collective::allgather, Factor::others},
    {Collective::reducescatter, Factor::others},   {Collective::alltoall, Factor::others},
    {Collective::broadcast, Factor::one},          {Collective::reduce, Factor::one},
    {Collective::sendrecv, Factor::one},           {Collective::other, Factor::undefined},
};

std::optional<double> factor_of(Collective kind, std::int64_t group_size) {
  const auto* row = std::find_if(std::begin(bus_factors), std::end(bus_factors),
                                 [kind](const BusFactor& candidate) { return candidate.kind == kind; });
  const auto n = static_cast<double>(group_size);
  if (row->factor == Factor::undefined) return std::nullopt;
  if (row->factor == Factor::one) return 1.0;
  return (row->factor == Factor::twice_others ? 2.0 : 1.0) * (n - 1) / n;
}

void add_message(KindTally& tally, Collective kind, const timeline::Message& message, Nanos duration) {
  if (message.bytes <= 0) return;
  ++tally.sized;
  tally.bytes.add(message.bytes);
  if (message.bytes <= small_message_bytes_max) ++tally.small;
  if (const auto busbw = bus_bandwidth(kind, message.bytes, message.group_size, duration))
    tally.bus_bandwidths.push_back(*busbw);
}

void add_call(RankView& view, const Work& work) {
  KindTally& tally = view.kinds[static_cast<std::size_t>(work.collective)];
  const Nanos duration = work.end - work.begin;
  tally.durations.push_back(duration.count());
  tally.duration.add(duration.count());
  if (work.message != timeline::none)
    add_message(tally, work.collective, view.timeline->messages[work.message], duration);
}

/// Why the kind has no value at all, or nothing.
std::optional<NotMeasured> nothing_of(const RankView& view, const KindTally& tally) {
  if (view.devices.empty()) return NotMeasured::no_gpu_work;
  if (view.opaque_graphs) return NotMeasured::graph_opaque;
  if (tally.durations.empty()) return NotMeasured::no_comm;
  return std::nullopt;
}

const KindTally& tally_of(const RankView& view, Collective kind) { return view.kinds[static_cast<std::size_t>(kind)]; }

/// The metric of a kind's tally, where the kind has one.
template <typename Measure>
Value of_kind(const RankView& view, Collective kind, Measure measure) {
  const KindTally& tally = tally_of(view, kind);
  if (const auto reason = nothing_of(view, tally)) return *reason;
  return measure(tally);
}

}  // namespace

std::optional<double> bus_bandwidth(Collective kind, std::int64_t bytes, std::int64_t group_size, Nanos duration) {
  if (bytes <= 0 || group_size <= 1 || duration <= Nanos{0}) return std::nullopt;
  const std::optional<double> factor = factor_of(kind, group_size);
  if (!factor) return std::nullopt;
  return static_cast<double>(bytes) / static_cast<double>(duration.count()) * *factor;  // bytes per ns = 1e9 bytes/s
}

void tally_kinds(RankView& view) {
  const Interval window = view.window->span;
  const std::size_t kinds = std::size(timeline::collectives);
  std::vector<std::vector<Interval>> spans(view.timeline->devices.size() * kinds);
  for (const Work& work : view.timeline->work) {
    if (work.begin >= window.end) break;
    if (work.kind != timeline::WorkKind::comm || !touches(work, window)) continue;
    spans[static_cast<std::size_t>(work.device) * kinds + static_cast<std::size_t>(work.collective)].push_back(
        work.span());
    if (work.begin >= window.begin) add_call(view, work);
  }
  for (const DeviceView& device : view.devices) {
    for (std::size_t kind = 0; kind < kinds; ++kind) {
      auto& of_device = spans[static_cast<std::size_t>(device.device) * kinds + kind];
      if (of_device.empty()) continue;
      const IntervalSet united = IntervalSet::union_of(std::move(of_device)).clipped_to(window);
      view.kinds[kind].united.add(united.total().count());
      view.kinds[kind].exposed.add(united.without(device.compute).total().count());
    }
  }
  for (KindTally& tally : view.kinds) {
    std::sort(tally.durations.begin(), tally.durations.end());
    std::sort(tally.bus_bandwidths.begin(), tally.bus_bandwidths.end());
  }
}

Value kind_time_mean(const RankView& view, Collective kind) {
  return of_kind(view, kind, [](const KindTally& tally) -> Value { return mean(tally.durations); });
}
Value kind_time_p50(const RankView& view, Collective kind) {
  return of_kind(view, kind, [](const KindTally& tally) -> Value { return quantile(tally.durations, 0.5); });
}
Value kind_time_p95(const RankView& view, Collective kind) {
  return of_kind(view, kind, [](const KindTally& tally) -> Value { return quantile(tally.durations, 0.95); });
}
Value kind_time_max(const RankView& view, Collective kind) {
  return of_kind(view, kind, [](const KindTally& tally) -> Value { return tally.durations.back(); });
}
Value kind_time_total(const RankView& view, Collective kind) {
  return of_kind(view, kind, [](const KindTally& tally) -> Value { return tally.duration.clamped(); });
}
Value kind_count(const RankView& view, Collective kind) {
  return of_kind(view, kind,
                 [](const KindTally& tally) -> Value { return static_cast<std::int64_t>(tally.durations.size()); });
}
Value kind_share(const RankView& view, Collective kind) {
  return of_kind(view, kind, [&view](const KindTally& tally) -> Value { return mean_share(view, tally.united); });
}
Value kind_exposed_share(const RankView& view, Collective kind) {
  return of_kind(view, kind, [&view](const KindTally& tally) -> Value { return mean_share(view, tally.exposed); });
}
Value kind_time_per_step(const RankView& view, Collective kind) {
  return of_kind(view, kind, [&view](const KindTally& tally) { return mean_per_step(view, tally.duration); });
}
Value kind_count_per_step(const RankView& view, Collective kind) {
  return of_kind(view, kind, [&view](const KindTally& tally) {
    Sum count;
    count.add(static_cast<std::int64_t>(tally.durations.size()));
    return mean_per_step(view, count);
  });
}
Value kind_exposed_per_step(const RankView& view, Collective kind) {
  return of_kind(view, kind, [&view](const KindTally& tally) { return mean_per_step(view, tally.exposed); });
}
Value kind_bytes_mean(const RankView& view, Collective kind) {
  return of_kind(view, kind, [](const KindTally& tally) -> Value {
    if (tally.sized == 0) return NotMeasured::no_sizes;
    return tally.bytes.as_double() / static_cast<double>(tally.sized);
  });
}
Value kind_busbw(const RankView& view, Collective kind) {
  return of_kind(view, kind, [](const KindTally& tally) -> Value {
    if (tally.bus_bandwidths.empty()) return NotMeasured::no_sizes;
    return quantile(tally.bus_bandwidths, 0.5);
  });
}

Value allreduce_small_share(const RankView& view) {
  return of_kind(view, Collective::allreduce, [](const KindTally& tally) -> Value {
    if (tally.sized == 0) return NotMeasured::no_sizes;
    return static_cast<double>(tally.small) / static_cast<double>(tally.sized);
  });
}

}  // namespace traceweir::metrics
