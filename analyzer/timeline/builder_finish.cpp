// The passes that turn collected rows into a Timeline.
#include <algorithm>
#include <numeric>
#include <utility>

#include "analyzer/core/assert.hpp"
#include "analyzer/timeline/builder_rows.hpp"

namespace traceweir::timeline {
namespace {

/// Sorts only where rows come unsorted, which real exports rarely are.
template <typename Row, typename Order>
void sort_if_needed(std::vector<Row>& rows, Order order) {
  if (!std::is_sorted(rows.begin(), rows.end(), order)) std::sort(rows.begin(), rows.end(), order);
}

bool work_order(const Work& a, const Work& b) {
  return std::tie(a.begin, a.stream, a.row) < std::tie(b.begin, b.stream, b.row);
}

/// By begin, the longest first: of several calls with one correlation the first in this order launched the work. Of two
/// at the very same time it is the one that neither allocates nor blocks, so that the order of the rows never decides.
bool call_order(const PendingCall& a, const PendingCall& b) {
  return std::tie(a.call.begin, b.call.end, a.call.allocates, a.call.blocking, a.call.thread, a.correlation) <
         std::tie(b.call.begin, a.call.end, b.call.allocates, b.call.blocking, b.call.thread, b.correlation);
}

bool range_order(const Range& a, const Range& b) {
  return std::tie(a.thread, a.begin, b.end, a.name) < std::tie(b.thread, b.begin, a.end, b.name);
}

/// One call under its correlation id.
struct Launch {
  std::int64_t correlation;
  std::uint32_t call;
  friend bool operator<(const Launch& a, const Launch& b) {
    return std::tie(a.correlation, a.call) < std::tie(b.correlation, b.call);
  }
};

/// Calls by correlation. Work of one stream comes in the order of its launches, so that a look-up nearly always finds
/// its call next to the one before.
class Launches {
 public:
  explicit Launches(const std::vector<PendingCall>& calls) {
    for (std::size_t i = 0; i < calls.size(); ++i)
      if (calls[i].correlation > 0) launches_.push_back({calls[i].correlation, static_cast<std::uint32_t>(i)});
    std::less<> order;
    sort_if_needed(launches_, order);
  }

  /// The first call of `correlation`, or `none`.
  std::uint32_t call_of(std::int64_t correlation) {
    if (correlation <= 0) return none;
    const std::size_t at = first_not_below(correlation);
    if (at == launches_.size() || launches_[at].correlation != correlation) return none;
    last_ = at;
    return launches_[at].call;
  }

 private:
  /// Widens a range around the last hit until it brackets `correlation`, then halves it.
  [[nodiscard]] std::size_t first_not_below(std::int64_t correlation) const {
    const auto below = [&](std::size_t i) { return launches_[i].correlation < correlation; };
    std::size_t low = last_;
    std::size_t high = last_;
    for (std::size_t step = 1; low > 0 && !below(low - 1); step *= 2) low -= std::min(step, low);
    for (std::size_t step = 1; high < launches_.size() && below(high); step *= 2)
      high += std::min(step, launches_.size() - high);
    const auto begin = launches_.begin();
    const auto from = begin + static_cast<std::ptrdiff_t>(low);
    const auto to = begin + static_cast<std::ptrdiff_t>(high);
    const auto found = std::partition_point(from, to, [&](const Launch& l) { return l.correlation < correlation; });
    return static_cast<std::size_t>(found - begin);
  }

  std::vector<Launch> launches_;
  std::size_t last_ = 0;
};

}  // namespace

void TimelineBuilder::Rows::sort_work() { sort_if_needed(work, work_order); }

void TimelineBuilder::Rows::drop_duplicates() {
  // Duplicates share begin and stream, so they lie in one run of the sorted rows; inside a run they are brought
  // together by the rest of the key. The first of them in the file stays.
  const auto key = [this](const Work& w) { return std::tie(w.device, w.end, w.name, correlations[w.row]); };
  std::vector<bool> dropped(work.size());
  std::int64_t count = 0;
  std::vector<std::size_t> run;
  for (std::size_t first = 0, last = 0; first < work.size(); first = last) {
    for (last = first + 1; last < work.size(); ++last)
      if (work[last].begin != work[first].begin || work[last].stream != work[first].stream) break;
    if (last - first == 1) continue;
    run.resize(last - first);
    std::iota(run.begin(), run.end(), first);
    std::stable_sort(run.begin(), run.end(), [&](auto a, auto b) { return key(work[a]) < key(work[b]); });
    for (std::size_t i = 1; i < run.size(); ++i)
      if (key(work[run[i - 1]]) == key(work[run[i]])) dropped[run[i]] = true, ++count;
  }
  if (count == 0) return;
  for (std::size_t i = 0; i < work.size(); ++i)
    if (dropped[i]) note(FindingCode::duplicate_events, names.text(work[i].name), 1);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < work.size(); ++i)
    if (!dropped[i]) work[kept++] = work[i];
  work.resize(kept);
}

void TimelineBuilder::Rows::keep_devices_with_work() {
  std::vector<bool> used(out.devices.size());
  for (const Work& w : work) used[static_cast<std::size_t>(w.device)] = true;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < used.size(); ++i)
    if (used[i]) order.push_back(i);
  std::sort(order.begin(), order.end(),
            [&](auto a, auto b) { return out.devices[a].ordinal < out.devices[b].ordinal; });

  std::vector<Device> devices;
  for (const std::size_t i : order) {
    moved_to.emplace(static_cast<DeviceIndex>(i), static_cast<DeviceIndex>(devices.size()));
    devices.push_back(std::move(out.devices[i]));
  }
  out.devices = std::move(devices);
  std::vector<DeviceIndex> final_index(used.size());
  for (const auto& [before, after] : moved_to) final_index[static_cast<std::size_t>(before)] = after;
  for (Work& w : work) w.device = final_index[static_cast<std::size_t>(w.device)];
}

void TimelineBuilder::Rows::join_calls() {
  sort_if_needed(calls, call_order);
  Launches launches(calls);
  std::vector<bool> launching(calls.size());
  for (Work& w : work) {
    w.call = launches.call_of(correlations[w.row]);
    if (w.call != none) launching[w.call] = true;
  }
  keep_calls(launching);
}

void TimelineBuilder::Rows::keep_calls(const std::vector<bool>& launching) {
  std::vector<std::uint32_t> kept_at(calls.size(), none);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Call& call = calls[i].call;
    if (!launching[i] && !call.blocking && !call.allocates) continue;
    kept_at[i] = static_cast<std::uint32_t>(out.calls.size());
    out.calls.push_back(call);
  }
  for (Work& w : work)
    if (w.call != none) w.call = kept_at[w.call];
}

void TimelineBuilder::Rows::count_orphans() {
  // Without any call in the trace a missing one says nothing.
  if (!out.has_host_calls) return;
  for (const Work& w : work)
    if (w.call == none) note(FindingCode::orphan_kernels, names.text(w.name), 1);
}

void TimelineBuilder::Rows::take_counters() {
  for (Series& of_counter : series) {
    const auto device = moved_to.find(of_counter.device);
    if (device == moved_to.end()) continue;
    sort_if_needed(of_counter.samples, [](const CounterSample& a, const CounterSample& b) { return a.at < b.at; });
    out.counters.push_back({std::move(of_counter.name), device->second, std::move(of_counter.samples)});
  }
  std::sort(out.counters.begin(), out.counters.end(),
            [](const Counter& a, const Counter& b) { return std::tie(a.name, a.device) < std::tie(b.name, b.device); });
}

void TimelineBuilder::Rows::thin_series() {
  sample_count = 0;
  stride *= 2;
  for (Series& of_counter : series) {
    std::vector<CounterSample>& samples = of_counter.samples;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < samples.size(); i += 2) samples[kept++] = samples[i];
    samples.resize(kept);
    sample_count += kept;
  }
}

void TimelineBuilder::Rows::sort_ranges() { sort_if_needed(ranges, range_order); }

}  // namespace traceweir::timeline
