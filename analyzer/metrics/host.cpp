#include "analyzer/metrics/host.hpp"

#include <algorithm>

#include "analyzer/metrics/occupancy.hpp"

namespace traceweir::metrics {
namespace {

using timeline::Call;
using timeline::Work;

/// Why the host's calls have no value at all, or nothing.
std::optional<NotMeasured> no_calls(const RankView& view) {
  if (!view.window) return NotMeasured::no_gpu_work;
  if (!view.timeline->has_host_calls) return NotMeasured::no_host_calls;
  return std::nullopt;
}

std::optional<NotMeasured> no_kernels(const RankView& view) {
  if (view.devices.empty()) return NotMeasured::no_gpu_work;
  if (view.opaque_graphs) return NotMeasured::graph_opaque;
  return std::nullopt;
}

/// Time of blocking calls inside the window. Calls are sorted by begin, so a union per thread needs only its end so
/// far.
Sum blocked(const RankView& view) {
  const Interval window = view.window->span;
  std::vector<Nanos> covered(view.timeline->thread_count, window.begin);
  Sum total;
  for (const Call& call : view.timeline->calls) {
    if (!call.blocking) continue;
    Nanos& until = covered[static_cast<std::size_t>(call.thread)];
    const Nanos begin = std::max(call.begin, until);
    const Nanos end = std::min(call.end, window.end);
    if (end <= begin) continue;
    total.add((end - begin).count());
    until = end;
  }
  return total;
}

Value per_step(const RankView& view, double value) {
  if (!view.window->steps) return NotMeasured::no_steps;
  return value / static_cast<double>(*view.window->steps);
}

Value calls_per_step(const RankView& view, bool Call::*which) {
  if (const auto reason = no_calls(view)) return *reason;
  const Interval window = view.window->span;
  const auto& calls = view.timeline->calls;
  return per_step(view, static_cast<double>(std::count_if(calls.begin(), calls.end(), [&](const Call& call) {
                    return call.*which && window.contains(call.begin);
                  })));
}

/// Calls `visit` with every kernel that starts in the window.
template <typename Visit>
void for_each_kernel(const RankView& view, Visit visit) {
  const Interval window = view.window->span;
  for (const Work& work : view.timeline->work) {
    if (work.begin >= window.end) break;
    if (work.source == timeline::WorkSource::kernel && work.begin >= window.begin) visit(work);
  }
}

std::int64_t count_of_kernels(const RankView& view) {
  std::int64_t count = 0;
  for_each_kernel(view, [&count](const Work&) { ++count; });
  return count;
}

/// What `of` says of every kernel that starts in the window (negative: nothing).
template <typename Of>
std::vector<std::int64_t> of_kernels(const RankView& view, Of of) {
  std::vector<std::int64_t> values;
  values.reserve(static_cast<std::size_t>(count_of_kernels(view)));
  for_each_kernel(view, [&](const Work& work) {
    if (const std::int64_t value = of(work); value >= 0) values.push_back(value);
  });
  return values;
}

/// Sorts no more than the middle, which is all that quantile() looks at. Shape: not empty.
Value median(std::vector<std::int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (middle + 1 != values.end()) std::iter_swap(middle + 1, std::min_element(middle + 1, values.end()));
  return quantile(values, 0.5);
}

std::int64_t duration_of(const Work& work) { return (work.end - work.begin).count(); }

}  // namespace

Value sync_share(const RankView& view) {
  if (const auto reason = no_calls(view)) return *reason;
  return blocked(view).as_double() / static_cast<double>(view.window->span.length().count());
}

Value sync_time_per_step(const RankView& view) {
  if (const auto reason = no_calls(view)) return *reason;
  return per_step(view, blocked(view).as_double());
}

Value sync_count_per_step(const RankView& view) { return calls_per_step(view, &Call::blocking); }
Value alloc_count_per_step(const RankView& view) { return calls_per_step(view, &Call::allocates); }

Value launch_count_per_step(const RankView& view) {
  if (const auto reason = no_kernels(view)) return *reason;
  Sum kernels;
  kernels.add(count_of_kernels(view));
  return mean_per_step(view, kernels);
}

Value launch_kernel_p50(const RankView& view) {
  if (const auto reason = no_kernels(view)) return *reason;
  std::vector<std::int64_t> durations = of_kernels(view, duration_of);
  if (durations.empty()) return NotMeasured::no_gpu_work;
  return median(std::move(durations));
}

Value launch_delay_p50(const RankView& view) {
  if (const auto reason = no_kernels(view)) return *reason;
  if (count_of_kernels(view) == 0) return NotMeasured::no_gpu_work;
  std::vector<std::int64_t> delays = of_kernels(view, [&view](const Work& work) -> std::int64_t {
    if (work.call == timeline::none) return -1;
    const Nanos launched = view.timeline->calls[work.call].end;
    return std::max(std::int64_t{0}, (work.begin - launched).count());
  });
  if (delays.empty()) return NotMeasured::no_host_calls;
  return median(std::move(delays));
}

}  // namespace traceweir::metrics
