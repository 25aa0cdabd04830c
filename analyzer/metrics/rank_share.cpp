// What a rank gives to its run (rank_view.hpp): its values, and its communication calls in the least that matching
// needs.
#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/metrics/coverage.hpp"
#include "analyzer/metrics/rank_view.hpp"

namespace traceweir::metrics {
namespace {

/// Compute on each device between one communication call and the next.
class ComputeBetween {
 public:
  explicit ComputeBetween(const RankView& view) : previous_end_(view.timeline->devices.size()) {
    for (const DeviceView& device : view.devices) compute_.emplace(device.device, Coverage(device.compute));
    if (view.window) std::fill(previous_end_.begin(), previous_end_.end(), view.window->span.begin);
  }

  Nanos before(const timeline::Work& call) {
    Nanos& previous = previous_end_[static_cast<std::size_t>(call.device)];
    const Nanos from = previous;
    previous = std::max(previous, call.end);
    const auto compute = compute_.find(call.device);
    if (compute == compute_.end() || call.begin <= from) return {};
    return compute->second.within({from, call.begin});
  }

 private:
  std::map<timeline::DeviceIndex, Coverage> compute_;
  std::vector<Nanos> previous_end_;
};

}  // namespace

RankShare share_of(const RankView& view, const RankMeasures& measures, std::int64_t rank) {
  RankShare share{rank, measures.window, measures.measurements, {}, {}, true};
  std::map<std::string_view, std::uint32_t> groups;
  const auto group_index = [&](std::string_view name) {
    const auto [entry, added] = groups.try_emplace(name, static_cast<std::uint32_t>(share.groups.size()));
    if (added) share.groups.emplace_back(name);
    return entry->second;
  };
  ComputeBetween compute(view);
  for (const timeline::Work& work : view.timeline->work) {
    // A peer copy is one rank's own: no other rank takes part in it as in a collective.
    if (work.kind != timeline::WorkKind::comm || work.source == timeline::WorkSource::memcpy) continue;
    const timeline::Message* const message =
        work.message == timeline::none ? nullptr : &view.timeline->messages[work.message];
    share.calls.push_back({.kind = work.collective,
                           .in_window = view.window && view.window->span.contains(work.begin),
                           .group = group_index(message == nullptr ? std::string_view() : message->group),
                           .bytes = message == nullptr ? 0 : message->bytes,
                           .sequence = message == nullptr ? std::nullopt : message->sequence,
                           .duration = work.end - work.begin,
                           .compute_before = compute.before(work)});
  }
  return share;
}

}  // namespace traceweir::metrics
