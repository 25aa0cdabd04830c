// The passes that turn collected rows into a Timeline.
#include <algorithm>
#include <numeric>
#include <utility>

#include "analyzer/core/assert.hpp"
#include "analyzer/timeline/builder_rows.hpp"

namespace traceweir::timeline {
namespace {

/// Sorts only where rows come unsorted, which real exports rarely are. Tables that follow one another, each in order,
/// are merged.
template <typename Row, typename Order>
void sort_if_needed(std::vector<Row>& rows, Order order) {
  constexpr int runs_max = 8;
  auto sorted = std::is_sorted_until(rows.begin(), rows.end(), order);
  for (int run = 1; sorted != rows.end(); ++run) {
    if (run == runs_max) return std::sort(rows.begin(), rows.end(), order);
    const auto next = std::is_sorted_until(sorted, rows.end(), order);
    // What of the sorted ones stands in front of all that follows stays.
    const auto begin = std::upper_bound(rows.begin(), sorted, *sorted, order);
    std::inplace_merge(begin, sorted, next, order);
    sorted = next;
  }
}

bool work_order(const Work& a, const Work& b) {
  return std::tie(a.begin, a.stream, a.row) < std::tie(b.begin, b.stream, b.row);
}

bool range_order(const Range& a, const Range& b) {
  return std::tie(a.thread, a.begin, b.end, a.name.form, a.name.numbers) <
         std::tie(b.thread, b.begin, a.end, b.name.form, b.name.numbers);
}

/// Calls by correlation. Work of one stream comes in the order of its launches, so that a look-up nearly always finds
/// its call next to the one before.
class Launches {
 public:
  explicit Launches(const std::vector<std::int64_t>& correlations) : correlations_(correlations) {
    order_.reserve(correlations.size());
    for (std::uint32_t i = 0; i < correlations.size(); ++i)
      if (correlations[i] > 0) order_.push_back(i);
    sort_if_needed(order_, [this](std::uint32_t a, std::uint32_t b) {
      return std::tie(correlations_[a], a) < std::tie(correlations_[b], b);
    });
  }

  /// The first call of `correlation`, or `none`.
  std::uint32_t call_of(std::int64_t correlation) {
    if (correlation <= 0) return none;
    const std::size_t at = first_not_below(correlation);
    if (at == order_.size() || correlations_[order_[at]] != correlation) return none;
    last_ = at;
    return order_[at];
  }

 private:
  /// Widens a range around the last hit until it brackets `correlation`, then halves it.
  [[nodiscard]] std::size_t first_not_below(std::int64_t correlation) const {
    const auto below = [&](std::uint32_t call) { return correlations_[call] < correlation; };
    std::size_t low = last_;
    std::size_t high = last_;
    for (std::size_t step = 1; low > 0 && !below(order_[low - 1]); step *= 2) low -= std::min(step, low);
    for (std::size_t step = 1; high < order_.size() && below(order_[high]); step *= 2)
      high += std::min(step, order_.size() - high);
    const auto begin = order_.begin();
    const auto from = begin + static_cast<std::ptrdiff_t>(low);
    const auto to = begin + static_cast<std::ptrdiff_t>(high);
    return static_cast<std::size_t>(std::partition_point(from, to, below) - begin);
  }

  const std::vector<std::int64_t>& correlations_;  ///< by call
  std::vector<std::uint32_t> order_;               ///< calls by correlation, then by their own order
  std::size_t last_ = 0;
};

/// The indices of calls by begin alone, from keys that lie together: looking each up in its row costs more than
/// sorting.
std::vector<std::uint32_t> order_by_begin(const std::vector<Call>& calls) {
  std::vector<std::pair<Nanos, std::uint32_t>> keys;
  keys.reserve(calls.size());
  for (std::uint32_t i = 0; i < calls.size(); ++i) keys.emplace_back(calls[i].begin, i);
  std::sort(keys.begin(), keys.end());
  std::vector<std::uint32_t> order(keys.size());
  std::transform(keys.begin(), keys.end(), order.begin(), [](const auto& key) { return key.second; });
  return order;
}

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

/// By begin, the longest first: of several calls with one correlation the first in this order launched the work. Of two
/// at the very same time it is the one that neither allocates nor blocks, so that the order of the rows never decides.
void TimelineBuilder::Rows::sort_calls() {
  const auto before = [this](std::uint32_t a, std::uint32_t b) {
    const Call& x = calls[a];
    const Call& y = calls[b];
    return std::tie(x.begin, y.end, x.allocates, x.blocking, x.thread, call_correlations[a]) <
           std::tie(y.begin, x.end, y.allocates, y.blocking, y.thread, call_correlations[b]);
  };
  std::uint32_t sorted = 1;
  while (sorted < calls.size() && !before(sorted, sorted - 1)) ++sorted;
  if (sorted >= calls.size()) return;
  std::vector<std::uint32_t> order = order_by_begin(calls);
  for (std::size_t first = 0, last = 0; first < order.size(); first = last) {
    for (last = first + 1; last < order.size() && calls[order[last]].begin == calls[order[first]].begin;) ++last;
    const auto begin = order.begin();
    if (last - first > 1)
      std::sort(begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(last), before);
  }
  // In place, along the cycles of the order, since there may be millions.
  for (std::uint32_t first = 0; first < order.size(); ++first) {
    const Call call = calls[first];
    const std::int64_t correlation = call_correlations[first];
    std::uint32_t at = first;
    for (std::uint32_t from = order[at]; from != first; from = order[at]) {
      calls[at] = calls[from];
      call_correlations[at] = call_correlations[from];
      order[at] = at;
      at = from;
    }
    calls[at] = call;
    call_correlations[at] = correlation;
    order[at] = at;
  }
}

void TimelineBuilder::Rows::join_calls() {
  std::vector<bool> launching(calls.size());
  {
    Launches launches(call_correlations);
    for (Work& w : work) {
      w.call = launches.call_of(correlations[w.row]);
      if (w.call != none) launching[w.call] = true;
    }
  }
  correlations = {};
  keep_calls(launching);
}

/// In place, and without more memory than is needed: the calls are half of what a large trace holds.
void TimelineBuilder::Rows::keep_calls(const std::vector<bool>& launching) {
  std::vector<std::int64_t> kept_at = std::move(call_correlations);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (!launching[i] && !calls[i].blocking && !calls[i].allocates) continue;
    kept_at[i] = static_cast<std::int64_t>(kept);
    calls[kept++] = calls[i];
  }
  for (Work& w : work)
    if (w.call != none) w.call = static_cast<std::uint32_t>(kept_at[w.call]);
  kept_at = {};
  // Memory that fits them is worth a copy of them only where many go.
  if (kept > calls.size() - calls.size() / 4) {
    calls.resize(kept);
    out.calls = std::move(calls);
  } else {
    out.calls.assign(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(kept));
  }
  calls = {};
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

void TimelineBuilder::Rows::sort_ranges() {
  // Exports have them by time: those of each thread are then in order but for those that begin together.
  bring_threads_together();
  const auto by_begin = [](const Range& a, const Range& b) {
    return std::tie(a.thread, a.begin) < std::tie(b.thread, b.begin);
  };
  sort_if_needed(ranges, by_begin);
  for (auto first = ranges.begin(); first != ranges.end();) {
    auto last = first + 1;
    while (last != ranges.end() && !by_begin(*first, *last)) ++last;
    if (last - first > 1) std::sort(first, last, range_order);
    first = last;
  }
}

/// Puts the ranges of each thread behind those of the ones before, otherwise in their order.
void TimelineBuilder::Rows::bring_threads_together() {
  const auto by_thread = [](const Range& a, const Range& b) { return a.thread < b.thread; };
  if (std::is_sorted(ranges.begin(), ranges.end(), by_thread)) return;
  std::vector<std::size_t> next(threads.size() + 1);
  for (const Range& range : ranges) ++next[static_cast<std::size_t>(range.thread) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<Range> together(ranges.size());
  for (const Range& range : ranges) together[next[static_cast<std::size_t>(range.thread)]++] = range;
  ranges = std::move(together);
}

}  // namespace traceweir::timeline
