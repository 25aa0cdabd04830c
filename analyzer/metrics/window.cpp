#include "analyzer/metrics/window.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include "analyzer/core/assert.hpp"
#include "analyzer/core/words.hpp"

namespace traceweir::metrics {
namespace {

constexpr Word<WindowKind> window_words[] = {
    {WindowKind::steps, "steps"},
    {WindowKind::span, "span"},
    {WindowKind::host_steps, "host_steps"},
    {WindowKind::range, "range"},
};

/// What a steps window is made of. Shape: indices in the list of steps.
struct KeptSteps {
  std::vector<std::size_t> kept;
  std::vector<std::size_t> working;  ///< positions in `kept` of the steps with GPU work
  std::int64_t skipped = 0;
};

KeptSteps kept_steps(const std::vector<Step>& steps) {
  KeptSteps found;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!steps[i].kept) {
      ++found.skipped;
      continue;
    }
    if (steps[i].first_work) found.working.push_back(found.kept.size());
    found.kept.push_back(i);
  }
  return found;
}

std::string counted(std::size_t count, std::string_view what) {
  return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

Result<Window> steps_window(const std::vector<Step>& steps) {
  const KeptSteps found = kept_steps(steps);
  const std::string have = "this trace has " + counted(found.kept.size(), "kept step") + " (" +
                           std::to_string(found.skipped) + " skipped), " + std::to_string(found.working.size()) +
                           " of them with GPU work";
  if (found.kept.size() < window_steps_min || found.working.size() < window_working_steps_min)
    return fail(ErrorCode::usage, "window steps: needs 3 kept steps, 2 of them with GPU work; " + have);
  const std::size_t first = found.working.front();
  const std::size_t last = found.working.back();
  const Interval span{*steps[found.kept[first]].first_work, *steps[found.kept[last]].first_work};
  if (span.empty())
    return fail(ErrorCode::usage, "window steps: the last step's GPU work does not begin after the first one's");
  return Window{WindowKind::steps, span, static_cast<std::int64_t>(last - first), found.skipped};
}

Result<Window> host_steps_window(const std::vector<Step>& steps) {
  const KeptSteps found = kept_steps(steps);
  if (found.kept.empty())
    return fail(ErrorCode::usage, "window host_steps: no kept step (" + counted(steps.size(), "step") + " marked)");
  const Interval span{steps[found.kept.front()].host.begin, steps[found.kept.back()].host.end};
  if (span.empty()) return fail(ErrorCode::usage, "window host_steps: the host ranges of the steps have no length");
  return Window{WindowKind::host_steps, span, static_cast<std::int64_t>(found.kept.size()), found.skipped};
}

Result<Window> range_window(Interval work, Interval range) {
  const std::int64_t origin = work.begin.count();
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t length = 0;
  if (__builtin_add_overflow(origin, range.begin.count(), &begin) ||
      __builtin_add_overflow(origin, range.end.count(), &end) || __builtin_sub_overflow(end, begin, &length))
    return fail(ErrorCode::usage, "window START:END: too far from the first GPU work");
  if (length <= 0) return fail(ErrorCode::usage, "window START:END: END must lie after START");
  return Window{WindowKind::range, {Nanos{begin}, Nanos{end}}, std::nullopt, 0};
}

Window span_window(Interval work) { return Window{WindowKind::span, work, std::nullopt, 0}; }

std::optional<Nanos> nanos_of(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return Nanos{value};
}

}  // namespace

std::string_view word(WindowKind kind) { return word_of(window_words, kind); }
std::optional<WindowKind> window_kind_of(std::string_view text) { return value_of(window_words, text); }

Result<MeasureOptions> with_window(MeasureOptions options, std::string_view text) {
  constexpr std::string_view expected = "steps, span, host_steps or START:END in ns from the first GPU work";
  const auto refused = [&](std::string_view why) {
    return fail(ErrorCode::usage, "window: " + std::string(why) + "; expected " + std::string(expected));
  };
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    const std::optional<WindowKind> kind = window_kind_of(text);
    if (!kind || *kind == WindowKind::range) return refused("unknown word");
    options.window = kind;
    return options;
  }
  const std::optional<Nanos> begin = nanos_of(text.substr(0, colon));
  const std::optional<Nanos> end = nanos_of(text.substr(colon + 1));
  if (!begin || !end) return refused("START and END are no whole numbers");
  if (*end <= *begin) return refused("END must lie after START");
  options.window = WindowKind::range;
  options.range = {*begin, *end};
  return options;
}

Result<std::int64_t> skipped_steps(std::size_t marked, const MeasureOptions& options) {
  if (!options.skip_steps) return marked > 3 ? 1 : 0;
  if (*options.skip_steps < 0) return fail(ErrorCode::usage, "skip_steps: must not be negative");
  return *options.skip_steps;
}

Interval span_of_work(const timeline::Timeline& timeline) {
  TRACEWEIR_ASSERT(!timeline.work.empty());
  Interval span = timeline.work.front().span();
  for (const timeline::Work& work : timeline.work) span.end = std::max(span.end, work.end);
  // Work without any length still needs a window in which it happened.
  if (span.empty()) span.end += Nanos{1};
  return span;
}

Result<Window> window_of(const std::vector<Step>& steps, Interval work, const MeasureOptions& options) {
  if (!options.window) {
    Result<Window> whole_periods = steps_window(steps);
    return whole_periods ? std::move(whole_periods) : Result<Window>(span_window(work));
  }
  switch (*options.window) {
    case WindowKind::steps:
      return steps_window(steps);
    case WindowKind::host_steps:
      return host_steps_window(steps);
    case WindowKind::range:
      return range_window(work, options.range);
    case WindowKind::span:
      break;
  }
  return span_window(work);
}

}  // namespace traceweir::metrics
