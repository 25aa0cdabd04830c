#include "analyzer/findings/job_habits.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/ascii.hpp"
#include "analyzer/findings/case_numbers.hpp"

// Every threshold without another source is that of the spec of metrics, section 8.
namespace traceweir::findings {
namespace {

using metrics::Step;
using timeline::Collective;
using timeline::Range;
using timeline::Work;
using timeline::WorkKind;

bool holds(std::string_view text, std::string_view word) {
  const auto same = [](char a, char b) { return lower(a) == b; };
  return std::search(text.begin(), text.end(), word.begin(), word.end(), same) != text.end();
}

/// The ranges of one step's thread whose name holds a word, the outer of nested ones.
std::vector<Interval> ranges_in(const Case& seen, const Step& step, std::string_view word) {
  std::vector<Interval> found;
  // They come by thread and begin: those of a step stand together, and a trace has as many steps as it likes.
  const auto& ranges = seen.view.timeline->ranges;
  const auto first = std::partition_point(ranges.begin(), ranges.end(), [&](const Range& range) {
    return range.thread < step.thread || (range.thread == step.thread && range.begin < step.host.begin);
  });
  for (auto at = first; at != ranges.end() && at->thread == step.thread && step.host.contains(at->begin); ++at) {
    const Range& range = *at;
    if (range.span() == step.host || range.kind != timeline::RangeKind::user ||
        !holds(seen.view.timeline->name(range.name.form), word))
      continue;
    if (found.empty() || range.begin >= found.back().end) found.push_back(range.span());
  }
  return found;
}

/// When the collectives of each step that gradients are reduced with were launched, by step.
std::vector<std::vector<Nanos>> reductions_by_step(const Case& seen) {
  const timeline::Timeline& timeline = *seen.view.timeline;
  std::vector<std::vector<Nanos>> launches(seen.view.steps.size());
  for (std::size_t i = 0; i < timeline.work.size(); ++i) {
    const Work& work = timeline.work[i];
    const bool reduces = work.collective == Collective::allreduce || work.collective == Collective::reducescatter;
    if (work.kind != WorkKind::comm || !reduces || seen.view.step_of_work[i] == timeline::none) continue;
    launches[seen.view.step_of_work[i]].push_back(timeline.calls[work.call].begin);
  }
  return launches;
}

/// The micro-steps of a step if each of them has a reduction, else 0. A micro-step is from the begin of a backward
/// phase to that of the next. Reductions inside a forward phase belong to tensor parallelism, which no_sync() does not
/// help.
std::int64_t synchronised_micro_steps(const Case& seen, const Step& step, const std::vector<Nanos>& launches) {
  const std::vector<Interval> backward = ranges_in(seen, step, "backward");
  if (backward.size() < 2) return 0;
  for (const Interval& forward : ranges_in(seen, step, "forward"))
    if (std::any_of(launches.begin(), launches.end(), [&](Nanos t) { return forward.contains(t); })) return 0;
  for (std::size_t i = 0; i < backward.size(); ++i) {
    const Interval micro{backward[i].begin, i + 1 < backward.size() ? backward[i + 1].begin : step.host.end};
    if (std::none_of(launches.begin(), launches.end(), [&](Nanos t) { return micro.contains(t); })) return 0;
  }
  return static_cast<std::int64_t>(backward.size());
}

}  // namespace

// One step may be an exception (the first, one before a checkpoint); more than half of them are a habit. Ours.
constexpr double accumulation_steps_ratio = 0.50;

std::optional<Seen> accumulation_sync(const Case& seen) {
  const auto launches = reductions_by_step(seen);
  std::int64_t steps = 0, micro_steps = 0, synchronised = 0, reductions = 0;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    if (!seen.view.steps[i].kept || launches[i].empty()) continue;
    ++steps;
    const std::int64_t micro = synchronised_micro_steps(seen, seen.view.steps[i], launches[i]);
    if (micro == 0) continue;
    ++synchronised;
    micro_steps = std::max(micro_steps, micro);
    reductions += static_cast<std::int64_t>(launches[i].size());
  }
  if (static_cast<double>(synchronised) <= accumulation_steps_ratio * static_cast<double>(steps)) return std::nullopt;
  Seen out;
  out.count = synchronised;
  out.evidence["micro_steps_count"] = micro_steps;
  out.evidence["per_step_count"] = static_cast<double>(reductions) / static_cast<double>(synchronised);
  return out;
}

std::optional<Seen> mixed_backends(const Case& seen) {
  const timeline::Timeline& timeline = *seen.view.timeline;
  std::int64_t gloo = 0, nccl = 0;
  for (const Range& range : timeline.ranges) {
    const std::string_view name = timeline.name(range.name.form);
    if (name.starts_with("gloo:")) ++gloo;
    if (name.starts_with("nccl:")) ++nccl;
  }
  // Nsight Systems keeps NCCL's ranges apart from the user's; its kernels say the same.
  if (nccl == 0)
    nccl = std::count_if(timeline.work.begin(), timeline.work.end(), [&](const Work& work) {
      return work.kind == WorkKind::comm && holds(timeline.name(work.name), "nccl");
    });
  if (gloo == 0 || nccl == 0) return std::nullopt;
  Seen out;
  out.count = gloo;
  out.evidence["gloo_count"] = gloo;
  out.evidence["nccl_count"] = nccl;
  return out;
}

constexpr double hot_gpu_celsius = 80;

std::optional<Seen> hot_gpu(const Case& seen) {
  if (!seen.view.window) return std::nullopt;
  Seen out;
  out.count = 0;
  double hottest = hot_gpu_celsius;
  for (const timeline::Counter& counter : seen.view.timeline->counters) {
    if (!holds(counter.name, "temperature")) continue;
    for (const timeline::CounterSample& sample : counter.samples) {
      if (!seen.view.window->span.contains(sample.at) || sample.value <= hot_gpu_celsius) continue;
      ++out.count;
      if (sample.value <= hottest) continue;
      hottest = sample.value;
      out.device = seen.view.timeline->device(counter.device).ordinal;
    }
  }
  if (out.count == 0) return std::nullopt;
  out.evidence["temperature_max_celsius"] = hottest;
  out.evidence["limit_celsius"] = hot_gpu_celsius;
  return out;
}

}  // namespace traceweir::findings
