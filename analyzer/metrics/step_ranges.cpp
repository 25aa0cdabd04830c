#include "analyzer/metrics/step_ranges.hpp"

#include <algorithm>

namespace traceweir::metrics {

StepRanges::StepRanges(const timeline::Timeline& timeline, const std::vector<Step>& steps)
    : timeline_(timeline), forms_(timeline.names.size()) {
  steps_.reserve(steps.size());
  for (const Step& step : steps) {
    steps_.push_back(&step);
    forms_[static_cast<std::size_t>(step.name.form)] = true;
  }
  std::sort(steps_.begin(), steps_.end(), [](const Step* a, const Step* b) { return key(*a) < key(*b); });
}

bool StepRanges::has_span(const timeline::Range& range) const {
  const Key wanted{range.thread, range.begin, range.end};
  const auto step = std::partition_point(steps_.begin(), steps_.end(), [&](const Step* s) { return key(*s) < wanted; });
  if (step == steps_.end() || key(**step) != wanted) return false;
  return (*step)->name == range.name || timeline_.name((*step)->name) == timeline_.name(range.name);
}

}  // namespace traceweir::metrics
