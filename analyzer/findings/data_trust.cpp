#include "analyzer/findings/data_trust.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "analyzer/core/text.hpp"
#include "analyzer/findings/case_numbers.hpp"

namespace traceweir::findings {
namespace {

using timeline::Timeline;
using timeline::Work;

constexpr std::size_t examples_max = 3;
constexpr std::size_t example_bytes_max = 160;

// Above this share of the work, rows without a time or past their successor spoil every ratio.
// Source: spec of metrics, section 8.
constexpr double untrusted_work_ratio = 0.01;

// Fewer whole steps than these say little about a job. Source: spec of metrics, section 8.
constexpr std::int64_t steps_for_trust = 10;
constexpr std::int64_t steps_for_any_spread = 3;

void add_example(Evidence& evidence, std::size_t number, std::string_view text) {
  evidence["example_" + std::to_string(number)] = clean_text(text, example_bytes_max);
}

double ratio(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

Seen share_of_work(std::int64_t count, std::int64_t work) {
  Seen seen;
  seen.count = count;
  const double share = ratio(count, work);
  seen.evidence["work_ratio"] = share;
  if (share > untrusted_work_ratio) seen.severity = Severity::data_loss;
  return seen;
}

bool has_hip_calls(const Timeline& timeline) {
  return std::any_of(timeline.calls.begin(), timeline.calls.end(),
                     [&](const timeline::Call& call) { return timeline.name(call.name).starts_with("hip"); });
}

/// Whole steps of the window; of a window without a step count, the periods between kept steps that have GPU work.
std::int64_t whole_steps(const metrics::RankView& view) {
  if (view.window->steps) return *view.window->steps;
  const auto with_work = std::count_if(view.steps.begin(), view.steps.end(),
                                       [](const metrics::Step& step) { return step.kept && step.first_work; });
  return std::max<std::int64_t>(with_work - 1, 0);
}

}  // namespace

std::optional<Seen> oddity(const Case& seen, FindingCode code) {
  const auto found = seen.view.timeline->oddities.find(code);
  if (found == seen.view.timeline->oddities.end() || found->second.count <= 0) return std::nullopt;
  Seen out;
  out.count = found->second.count;
  for (std::size_t i = 0; i < std::min(found->second.examples.size(), examples_max); ++i)
    add_example(out.evidence, i + 1, found->second.examples[i]);
  return out;
}

std::optional<Seen> zero_timestamps(const Case& seen) {
  const auto found = oddity(seen, FindingCode::zero_timestamps);
  if (!found) return std::nullopt;
  return share_of_work(found->count, found->count + static_cast<std::int64_t>(seen.view.timeline->work.size()));
}

/// Rows that were mended inform; where GPU work is missing, ratios and sums are as wrong as with lost events.
std::optional<Seen> invalid_text(const Case& seen) {
  auto found = oddity(seen, FindingCode::invalid_text);
  if (!found) return std::nullopt;
  const Timeline& timeline = *seen.view.timeline;
  const std::int64_t lost = timeline.oddities.at(FindingCode::invalid_text).work;
  if (lost == 0) return found;
  const double share = ratio(lost, lost + static_cast<std::int64_t>(timeline.work.size()));
  found->evidence["lost_work_count"] = lost;
  found->evidence["work_ratio"] = share;
  if (share <= untrusted_work_ratio) return found;
  found->severity = Severity::data_loss;
  found->advice =
      "Rows of GPU work could not be read and are missing in every number; write the trace again, with a newer "
      "profiler "
      "if it happens twice.";
  return found;
}

/// Kernels that are still running when the next one on their stream has ended: a stream runs them one after the other.
/// Source: AMD-AGI/TraceLens#669. On CUDA overlap alone is no fault: with programmatic dependent launch (Hopper and
/// later) a kernel starts before its predecessor has ended, but does not end before it. Kernels of one graph launch
/// share a stream number and may run together. HIP knows no such launch: there any overlap on one stream is a wrong
/// duration.
std::optional<Seen> stream_overrun(const Case& seen) {
  std::map<std::pair<timeline::DeviceIndex, std::int64_t>, const Work*> last_on;
  std::int64_t count = 0;
  std::int64_t kernels = 0;
  const bool hip = has_hip_calls(*seen.view.timeline);
  for (const Work& work : seen.view.timeline->work) {
    if (work.source != timeline::WorkSource::kernel) continue;
    ++kernels;
    const Work*& last = last_on[{work.device, work.stream}];
    const bool same_launch = last != nullptr && last->call != timeline::none && last->call == work.call;
    const Nanos limit = hip ? work.begin : work.end;
    if (last != nullptr && !same_launch && last->end > limit && !work.span().empty()) ++count;
    if (last == nullptr || work.end > last->end) last = &work;
  }
  if (count == 0) return std::nullopt;
  return share_of_work(count, kernels);
}

std::optional<Seen> no_steps(const Case& seen) {
  if (!seen.view.window || !seen.view.steps.empty()) return std::nullopt;
  return Seen{};
}

std::optional<Seen> few_steps(const Case& seen) {
  if (!seen.view.window || seen.view.steps.empty()) return std::nullopt;
  const std::int64_t steps = whole_steps(seen.view);
  if (steps >= steps_for_trust) return std::nullopt;
  Seen out;
  out.evidence["whole_steps_count"] = steps;
  out.evidence["marked_steps_count"] = static_cast<std::int64_t>(seen.view.steps.size());
  if (steps < steps_for_any_spread) out.severity = Severity::warning;
  return out;
}

std::optional<Seen> graph_level_tracing(const Case& seen) {
  const auto& work = seen.view.timeline->work;
  const auto graphs =
      std::count_if(work.begin(), work.end(), [](const Work& w) { return w.kind == timeline::WorkKind::graph; });
  if (graphs == 0) return oddity(seen, FindingCode::graph_level_tracing);
  Seen out;
  out.count = graphs;
  return out;
}

std::optional<Seen> unknown_collectives(const Case& seen) {
  std::set<timeline::NameId> names;
  Seen out;
  out.count = 0;
  for (const Work& work : seen.view.timeline->work) {
    const bool unknown = work.kind == timeline::WorkKind::comm && work.source == timeline::WorkSource::kernel &&
                         work.collective == timeline::Collective::other;
    if (!unknown) continue;
    ++out.count;
    if (names.size() < examples_max && names.insert(work.name).second)
      add_example(out.evidence, names.size(), seen.view.timeline->name(work.name));
  }
  if (out.count == 0) return oddity(seen, FindingCode::unknown_collectives);
  return out;
}

std::optional<Seen> mixed_gpus(const Case& seen) {
  std::set<std::string> gpus;
  for (const metrics::DeviceView& device : seen.view.devices)
    if (!device.times.gpu.empty()) gpus.insert(device.times.gpu);
  if (gpus.size() < 2) return std::nullopt;
  Seen out;
  out.count = static_cast<std::int64_t>(gpus.size());
  std::size_t number = 0;
  for (const std::string& gpu : gpus)
    if (number < examples_max) add_example(out.evidence, ++number, gpu);
  return out;
}

}  // namespace traceweir::findings
