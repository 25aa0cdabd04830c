#include "analyzer/metrics/rank_view.hpp"

#include <algorithm>

#include "analyzer/metrics/collectives.hpp"
#include "analyzer/metrics/copies.hpp"
#include "analyzer/metrics/occupancy.hpp"
#include "analyzer/metrics/rows.hpp"
#include "analyzer/metrics/step_pattern.hpp"
#include "analyzer/metrics/steps.hpp"
#include "analyzer/metrics/window.hpp"

namespace traceweir::metrics {
namespace {

bool has_opaque_graphs(const timeline::Timeline& timeline, Interval window) {
  return std::any_of(timeline.work.begin(), timeline.work.end(), [window](const timeline::Work& work) {
    return work.kind == timeline::WorkKind::graph && touches(work, window);
  });
}

}  // namespace

Result<RankView> view_of(const timeline::Timeline& timeline, const MeasureOptions& options) {
  RankView view;
  view.timeline = &timeline;
  view.phase_names = phase_names_of(timeline);
  view.steps = find_steps(timeline, StepPattern(timeline.step_naming, options.steps));
  view.step_of_work = steps_of_work(timeline, view.steps);
  find_first_work(timeline, view.step_of_work, view.steps);
  TRACEWEIR_TRY(skip, skipped_steps(view.steps.size(), options));
  keep_steps(view.steps, skip);
  if (timeline.work.empty()) return view;
  // From here on there is GPU work, so there is a window.

  TRACEWEIR_TRY(window, window_of(view.steps, span_of_work(timeline), options));
  view.window = window;
  view.devices = device_views(timeline, window.span);
  view.opaque_graphs = has_opaque_graphs(timeline, window.span);
  tally_kinds(view);
  tally_copies(view);
  return view;
}

}  // namespace traceweir::metrics
