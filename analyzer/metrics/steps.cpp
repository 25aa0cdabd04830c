#include "analyzer/metrics/steps.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <tuple>

#include "analyzer/metrics/coverage.hpp"
#include "analyzer/metrics/statistics.hpp"

namespace traceweir::metrics {
namespace {

using timeline::Timeline;

/// Which ranges a pattern matches. Forms are asked once; numbers only where they can make a difference.
class Matching {
 public:
  Matching(const Timeline& timeline, const StepPattern& pattern)
      : timeline_(timeline), pattern_(pattern), forms_(timeline.names.size(), 0) {
    for (const timeline::Range& range : timeline.ranges) forms_[static_cast<std::size_t>(range.name.form)] = 1;
    for (std::size_t form = 0; form < forms_.size(); ++form)
      if (forms_[form] != 0 && !pattern.matches(timeline.names[form])) forms_[form] = 0;
  }

  [[nodiscard]] bool has(const timeline::RangeName& name) const {
    if (pattern_.tells_numbers_apart() && name.numbers != timeline::RangeName::no_numbers)
      return pattern_.matches(timeline_.name(name));
    return forms_[static_cast<std::size_t>(name.form)] != 0;
  }

 private:
  const Timeline& timeline_;
  const StepPattern& pattern_;
  std::vector<std::uint8_t> forms_;  ///< by NameId
};

/// Per call the step that contains its begin. Both are sorted by begin, so one walk with the open steps suffices.
std::vector<std::uint32_t> steps_of_calls(const Timeline& timeline, const std::vector<Step>& steps) {
  std::vector<std::uint32_t> step_of_call(timeline.calls.size(), timeline::none);
  std::vector<std::uint32_t> open;
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < timeline.calls.size(); ++i) {
    const Nanos begin = timeline.calls[i].begin;
    while (next < steps.size() && steps[next].host.begin <= begin) open.push_back(next++);
    while (!open.empty() && steps[open.back()].host.end <= begin) open.pop_back();
    if (!open.empty()) step_of_call[i] = open.back();
  }
  return step_of_call;
}

/// One period: from the first GPU work of a kept step to that of the next one that has any.
struct Period {
  std::size_t step;
  Interval span;
  bool neighbours;  ///< no kept step without work lies between
};

std::vector<Period> periods_of(const RankView& view) {
  std::vector<Period> periods;
  std::optional<std::size_t> from;
  bool neighbours = true;
  for (std::size_t i = 0; i < view.steps.size(); ++i) {
    const Step& step = view.steps[i];
    if (!step.kept) continue;
    if (!step.first_work) {
      neighbours = false;
      continue;
    }
    if (from) {
      const Interval span{*view.steps[*from].first_work, *step.first_work};
      if (!span.empty()) periods.push_back({*from, span, neighbours});
    }
    from = i;
    neighbours = true;
  }
  return periods;
}

Value step_time_quantile(const RankView& view, double p) {
  if (!view.window) return NotMeasured::no_gpu_work;
  std::vector<std::int64_t> periods = step_periods(view);
  if (periods.empty()) return NotMeasured::no_steps;
  std::sort(periods.begin(), periods.end());
  return quantile(periods, p);
}

struct DeviceCoverage {
  explicit DeviceCoverage(const DeviceView& device)
      : running(device.running), busy(device.busy), exposed_comm(device.exposed_comm) {}
  Coverage running, busy, exposed_comm;
};

/// Mean duration of the all-reduces that start in the interval; work is sorted by begin.
std::optional<double> allreduce_mean(const RankView& view, Interval interval) {
  const std::vector<timeline::Work>& work = view.timeline->work;
  auto item = std::lower_bound(work.begin(), work.end(), interval.begin,
                               [](const timeline::Work& w, Nanos begin) { return w.begin < begin; });
  Sum total;
  std::int64_t count = 0;
  for (; item != work.end() && item->begin < interval.end; ++item) {
    if (item->kind != timeline::WorkKind::comm || item->collective != timeline::Collective::allreduce) continue;
    total.add((item->end - item->begin).count());
    ++count;
  }
  if (count == 0) return std::nullopt;
  return total.as_double() / static_cast<double>(count);
}

StepValues values_of(const RankView& view, const Period& period, const std::vector<DeviceCoverage>& devices) {
  const Step& step = view.steps[period.step];
  StepValues values{static_cast<std::int64_t>(period.step), view.timeline->name(step.name), period.span.length(), {}};
  if (devices.empty()) return values;
  Sum running;
  Sum busy;
  Sum exposed;
  for (const DeviceCoverage& device : devices) {
    running.add(device.running.within(period.span).count());
    busy.add(device.busy.within(period.span).count());
    exposed.add(device.exposed_comm.within(period.span).count());
  }
  const auto count = static_cast<double>(devices.size());
  const double length = static_cast<double>(period.span.length().count()) * count;
  values.values["gpu.utilization"] = running.as_double() / length;
  values.values["gpu.idle"] = (length - busy.as_double()) / length;
  if (view.opaque_graphs) return values;
  values.values["comm.exposed_per_step"] = exposed.as_double() / count;
  if (const auto mean_ns = allreduce_mean(view, period.span)) values.values["allreduce.time_mean"] = *mean_ns;
  return values;
}

}  // namespace

std::vector<Step> find_steps(const Timeline& timeline, const StepPattern& pattern) {
  const Matching matching(timeline, pattern);
  std::vector<Step> steps;
  std::optional<timeline::ThreadIndex> thread;
  Nanos covered{};
  for (const timeline::Range& range : timeline.ranges) {
    if (!matching.has(range.name)) continue;
    const bool nested = thread == range.thread && range.end <= covered;
    if (nested) continue;
    covered = thread == range.thread ? std::max(covered, range.end) : range.end;
    thread = range.thread;
    steps.push_back({range.span(), range.thread, range.name, std::nullopt, false});
  }
  std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) {
    return std::tie(a.host.begin, a.host.end, a.thread) < std::tie(b.host.begin, b.host.end, b.thread);
  });
  return steps;
}

std::vector<std::uint32_t> steps_of_work(const Timeline& timeline, const std::vector<Step>& steps) {
  std::vector<std::uint32_t> step_of_work(timeline.work.size(), timeline::none);
  if (steps.empty()) return step_of_work;
  const std::vector<std::uint32_t> step_of_call = steps_of_calls(timeline, steps);
  for (std::size_t i = 0; i < step_of_work.size(); ++i) {
    const std::uint32_t call = timeline.work[i].call;
    if (call != timeline::none) step_of_work[i] = step_of_call[call];
  }
  return step_of_work;
}

void find_first_work(const Timeline& timeline, const std::vector<std::uint32_t>& step_of_work,
                     std::vector<Step>& steps) {
  for (std::size_t i = 0; i < step_of_work.size(); ++i) {
    if (step_of_work[i] == timeline::none) continue;
    Step& step = steps[step_of_work[i]];
    if (!step.first_work) step.first_work = timeline.work[i].begin;  // work is sorted by begin
  }
}

void keep_steps(std::vector<Step>& steps, std::int64_t skip) {
  for (std::size_t i = 0; i < steps.size(); ++i) steps[i].kept = static_cast<std::int64_t>(i) >= skip;
}

std::vector<std::int64_t> step_periods(const RankView& view) {
  std::vector<std::int64_t> lengths;
  for (const Period& period : periods_of(view))
    if (period.neighbours) lengths.push_back(period.span.length().count());
  return lengths;
}

std::vector<StepValues> step_values(const RankView& view) {
  if (!view.window) return {};
  std::vector<Period> periods = periods_of(view);
  const Interval window = view.window->span;
  std::erase_if(periods, [window](const Period& period) {
    return period.span.begin < window.begin || period.span.end > window.end;
  });
  std::vector<DeviceCoverage> devices(view.devices.begin(), view.devices.end());
  std::vector<StepValues> values;
  const std::size_t count = std::min(periods.size(), step_values_max);
  values.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t chosen = count == periods.size() ? i : i * (periods.size() - 1) / (count - 1);
    values.push_back(values_of(view, periods[chosen], devices));
  }
  return values;
}

Value step_time_mean(const RankView& view) {
  if (!view.window) return NotMeasured::no_gpu_work;
  if (view.window->kind != WindowKind::steps) return NotMeasured::no_steps;
  return static_cast<double>(view.window->span.length().count()) / static_cast<double>(*view.window->steps);
}

Value step_time_p50(const RankView& view) { return step_time_quantile(view, 0.5); }
Value step_time_p95(const RankView& view) { return step_time_quantile(view, 0.95); }

Value step_time_cv(const RankView& view) {
  if (!view.window) return NotMeasured::no_gpu_work;
  const std::vector<std::int64_t> periods = step_periods(view);
  if (periods.empty()) return NotMeasured::no_steps;
  if (periods.size() < 2) return NotMeasured::few_steps;
  return coefficient_of_variation(periods);
}

}  // namespace traceweir::metrics
