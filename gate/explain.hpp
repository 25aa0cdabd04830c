// For: why a metric of one run differs from another run's, from their two reports. Pure.
// Not for: choosing the other run (server/pipeline), whether the difference matters (judge.hpp).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gate/contributions.hpp"
#include "gate/explanation.hpp"
#include "gate/run_side.hpp"

namespace traceweir::gate {

/// Whether there is a decomposition of this metric: `gpu.utilization`, `gpu.idle` and the other shares of the window,
/// `step.time_mean`, `step.time_p50`, `step.time_p95`, `comm.exposed_per_step`, and `K.time_mean`.
bool is_explained(std::string_view metric);

/// The metrics that a comparison explains, in its order. Source: spec of the gate, section 7.
std::vector<std::string> compared_metrics();

/// A rank that needs longer than before while the others do not: they wait for it.
struct Straggler {
  std::int64_t rank;
  double growth;  ///< ns per step, without communication; negative: it became faster
};

/// Two runs and what explains one by the other.
/// Shape:  outlived by both reports.
/// Cost:   O(rows of the reports · log).
class Explainer {
 public:
  Explainer(const report::Report& base, const report::Report& head);

  /// Nothing where the metric has no decomposition or one of the runs has no value or no breakdown for it.
  /// Shape: `against_run` is left empty. explain of swapped sides has the deltas with the other sign.
  [[nodiscard]] std::optional<Explanation> explain(std::string_view metric) const;

  [[nodiscard]] const RunSide& base() const { return base_; }
  [[nodiscard]] const RunSide& head() const { return head_; }
  [[nodiscard]] const std::optional<Straggler>& straggler() const { return straggler_; }
  /// The rank on which nearly all of the difference of these sums lies, of several; nothing: it is spread.
  [[nodiscard]] std::optional<std::int64_t> rank_of(const std::vector<TermKey>& keys) const;

 private:
  [[nodiscard]] std::vector<Part> parts_of_terms(Per per) const;
  [[nodiscard]] std::string kernel_note(const std::string& name) const;

  RunSide base_, head_;
  std::optional<Straggler> straggler_;
};

}  // namespace traceweir::gate
