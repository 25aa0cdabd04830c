// For: telling a step's own range from all others, once steps are known. Not for: finding steps (steps.hpp).
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "analyzer/metrics/rank_view.hpp"

namespace traceweir::metrics {

/// Thread: immutable after construction; share freely. Outlived by timeline and steps.
class StepRanges {
 public:
  /// Cost: O(names + steps log steps).
  StepRanges(const timeline::Timeline& timeline, const std::vector<Step>& steps);

  /// Whether `range` is a step: has the thread, the times and the name of one. Cost: O(log steps) where its form is
  /// that of a step, else O(1).
  [[nodiscard]] bool has(const timeline::Range& range) const {
    return forms_[static_cast<std::size_t>(range.name.form)] && has_span(range);
  }
  [[nodiscard]] bool empty() const { return steps_.empty(); }

 private:
  using Key = std::tuple<timeline::ThreadIndex, Nanos, Nanos>;
  static Key key(const Step& step) { return {step.thread, step.host.begin, step.host.end}; }
  [[nodiscard]] bool has_span(const timeline::Range& range) const;

  const timeline::Timeline& timeline_;
  std::vector<const Step*> steps_;  ///< by key; no two have one, since of nested steps only the outer is one
  std::vector<bool> forms_;         ///< of steps, by NameId
};

}  // namespace traceweir::metrics
