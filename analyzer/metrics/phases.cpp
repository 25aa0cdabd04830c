// The third list of rows.hpp: the user's phases, and what the GPU did for each.
#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "analyzer/core/ascii.hpp"
#include "analyzer/metrics/rows.hpp"
#include "analyzer/metrics/step_ranges.hpp"

namespace traceweir::metrics {
namespace {

using timeline::Call;
using timeline::IntervalSet;
using timeline::Range;
using timeline::ThreadIndex;
using timeline::Timeline;

/// One range that is a phase, cut to the steps. Shape: `outer` is an index in the list of phases, or timeline::none.
struct Phase {
  Interval span;
  ThreadIndex thread;
  std::uint32_t row;
  std::uint32_t outer;
  int depth;
};

/// A row while it grows: unions are kept as the end of what is covered so far, since times come in order.
struct Growing {
  std::string name;
  std::int64_t count = 0;
  Sum host;
  Sum gpu;
  std::optional<ThreadIndex> thread;
  Nanos host_covered{};
  std::optional<Nanos> gpu_covered;

  void add_host(const Phase& phase) {
    ++count;
    const Nanos begin = thread == phase.thread ? std::max(phase.span.begin, host_covered) : phase.span.begin;
    if (phase.span.end > begin) host.add((phase.span.end - begin).count());
    host_covered = thread == phase.thread ? std::max(host_covered, phase.span.end) : phase.span.end;
    thread = phase.thread;
  }

  void add_gpu(Interval work) {
    const Nanos begin = gpu_covered ? std::max(work.begin, *gpu_covered) : work.begin;
    if (work.end <= begin) return;
    gpu.add((work.end - begin).count());
    gpu_covered = work.end;
  }
};

/// Finds phases and their nesting, per thread, and which one a call is in.
class Phases {
 public:
  explicit Phases(const RankView& view)
      : timeline_(*view.timeline),
        names_(view.phase_names),
        rows_of_phases_(view.phase_names.texts.size(), timeline::none) {
    std::vector<Interval> hosts;
    for (const Step& step : view.steps)
      if (step.kept) hosts.push_back(step.host);
    steps_ = IntervalSet::union_of(std::move(hosts));
    find(view);
  }

  std::vector<Growing> rows() {
    for (const Phase& phase : phases_) rows_[phase.row].add_host(phase);
    const std::vector<std::uint32_t> innermost = phases_of_calls();
    for (const timeline::Work& work : timeline_.work) {
      if (work.call == timeline::none) continue;
      const Nanos launched = timeline_.calls[work.call].begin;
      for (std::uint32_t i = innermost[work.call]; i != timeline::none; i = phases_[i].outer)
        if (phases_[i].span.contains(launched)) rows_[phases_[i].row].add_gpu(work.span());
    }
    return std::move(rows_);
  }

 private:
  /// The part of the steps that a point lies in; nothing outside of them.
  [[nodiscard]] const Interval* step_at(Nanos t) const {
    const auto parts = steps_.parts();
    const auto after = std::upper_bound(parts.begin(), parts.end(), t,
                                        [](Nanos point, const Interval& part) { return point < part.begin; });
    if (after == parts.begin() || !(after - 1)->contains(t)) return nullptr;
    return &*(after - 1);
  }

  /// Drops from `open` what ended at or before `t`; the innermost open phase.
  std::uint32_t innermost(std::vector<std::uint32_t>& open, Nanos t) const {
    while (!open.empty() && phases_[open.back()].span.end <= t) open.pop_back();
    return open.empty() ? timeline::none : open.back();
  }

  void find(const RankView& view) {
    const StepRanges steps(timeline_, view.steps);
    phases_.reserve(timeline_.ranges.size());
    std::vector<std::uint32_t> open;
    std::optional<ThreadIndex> thread;
    for (const Range& range : timeline_.ranges) {
      if (thread != range.thread) open.clear();
      thread = range.thread;
      const Interval* step = range.kind == timeline::RangeKind::user ? step_at(range.begin) : nullptr;
      if (step == nullptr) continue;
      if (steps.has(range)) continue;
      const std::uint32_t outer = innermost(open, range.begin);
      const int depth = outer == timeline::none ? 1 : phases_[outer].depth + 1;
      if (depth > phase_depth_max) continue;
      open.push_back(static_cast<std::uint32_t>(phases_.size()));
      phases_.push_back(
          {{range.begin, std::min(range.end, step->end)}, range.thread, row_of(range.name.form), outer, depth});
    }
  }

  std::uint32_t row_of(timeline::NameId form) {
    const std::uint32_t phase = names_.by_form[static_cast<std::size_t>(form)];
    std::uint32_t& row = rows_of_phases_[phase];
    if (row != timeline::none) return row;
    row = static_cast<std::uint32_t>(rows_.size());
    rows_.push_back(Growing{names_.texts[phase], 0, {}, {}, {}, {}, {}});
    return row;
  }

  /// Per call the innermost phase of its thread that contains its begin. Calls are in order of time, so the phases of
  /// each thread are walked once.
  [[nodiscard]] std::vector<std::uint32_t> phases_of_calls() const {
    struct Walk {
      std::size_t next = 0, end = 0;
      std::vector<std::uint32_t> open;
    };
    std::vector<Walk> walks(timeline_.thread_count);
    for (std::size_t i = 0; i < phases_.size(); ++i) {
      Walk& walk = walks[static_cast<std::size_t>(phases_[i].thread)];
      if (walk.end == 0) walk.next = i;
      walk.end = i + 1;
    }
    std::vector<std::uint32_t> phase_of_call(timeline_.calls.size(), timeline::none);
    for (std::size_t i = 0; i < phase_of_call.size(); ++i) {
      const Call& call = timeline_.calls[i];
      Walk& walk = walks[static_cast<std::size_t>(call.thread)];
      while (walk.next < walk.end && phases_[walk.next].span.begin <= call.begin)
        walk.open.push_back(static_cast<std::uint32_t>(walk.next++));
      phase_of_call[i] = innermost(walk.open, call.begin);
    }
    return phase_of_call;
  }

  const Timeline& timeline_;
  IntervalSet steps_;
  std::vector<Phase> phases_;
  const PhaseNames& names_;
  std::vector<std::uint32_t> rows_of_phases_;
  std::vector<Growing> rows_;
};

/// phase_name(), in memory that is used again.
void set_phase_name(std::string_view range_name, std::string& into) {
  into.resize(range_name.size());
  std::size_t size = 0;
  bool in_number = false;
  for (const char c : range_name) {
    const bool digit = is_digit(c);
    if (!digit || !in_number) into[size++] = digit ? 'N' : c;
    in_number = digit;
  }
  into.resize(size);
}

}  // namespace

std::string phase_name(std::string_view range_name) {
  std::string name;
  set_phase_name(range_name, name);
  return name;
}

PhaseNames phase_names_of(const Timeline& timeline) {
  PhaseNames out;
  out.by_form.resize(timeline.names.size(), timeline::none);
  for (const Range& range : timeline.ranges) out.by_form[static_cast<std::size_t>(range.name.form)] = 0;
  std::unordered_map<std::string, std::uint32_t> known;
  std::string text;
  // A form has a `0` where its names have a number: it is called as they are.
  for (std::size_t form = 0; form < out.by_form.size(); ++form) {
    if (out.by_form[form] == timeline::none) continue;
    set_phase_name(timeline.names[form], text);
    auto phase = known.find(text);
    if (phase == known.end()) {
      phase = known.emplace(text, static_cast<std::uint32_t>(out.texts.size())).first;
      out.texts.push_back(text);
    }
    out.by_form[form] = phase->second;
  }
  return out;
}

std::vector<PhaseRow> phase_rows(const RankView& view) {
  if (view.steps.empty()) return {};
  std::vector<PhaseRow> rows;
  for (Growing& row : Phases(view).rows())
    rows.push_back({std::move(row.name), row.count, Nanos{row.host.clamped()}, Nanos{row.gpu.clamped()}});
  std::sort(rows.begin(), rows.end(),
            [](const PhaseRow& a, const PhaseRow& b) { return std::tie(b.host, a.name) < std::tie(a.host, b.name); });
  return rows;
}

}  // namespace traceweir::metrics
