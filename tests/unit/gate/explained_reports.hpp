// For: small reports for the tests of explanations: one rank, one GPU, terms given by hand, the metrics that follow.
// Not for: what a report can hold besides (tests/unit/report).
#pragma once

#include <string>
#include <vector>

#include "analyzer/report/report.hpp"

namespace traceweir::gate::cases {

using Term = decltype(report::RankReport::breakdown)::value_type;
using TermKind = decltype(Term::kind);
using IdleCause = decltype(Term::cause);

inline Term idle(IdleCause cause, const std::string& phase, std::int64_t ns) {
  return {TermKind::idle, phase, cause, timeline::Collective::other, 0, Nanos{ns}};
}
inline Term compute(const std::string& kernel, std::int64_t ns) {
  return {TermKind::compute, kernel, IdleCause::unknown, timeline::Collective::other, 0, Nanos{ns}};
}
inline Term exposed(timeline::Collective kind, std::int64_t bytes, std::int64_t ns) {
  return {TermKind::exposed_comm, "", IdleCause::unknown, kind, bytes, Nanos{ns}};
}
inline Term copies(const std::string& direction, std::int64_t ns) {
  return {TermKind::exposed_memory, direction, IdleCause::unknown, timeline::Collective::other, 0, Nanos{ns}};
}

inline void set_metric(report::Report& report, const std::string& id, double value) {
  const MetricInfo* info = report::find_metric(id);
  report.measurements.push_back({{id, Number{value}, info->unit, info->better, std::nullopt}, value, value, 0, 0});
}

/// The run of one rank whose window the terms fill.
inline report::Report run_of_terms(const std::vector<Term>& terms, std::int64_t steps) {
  report::RankReport rank;
  rank.environment.gpu_count = 1;
  rank.environment.graph_mode = "none";
  rank.breakdown = terms;
  double total = 0, by_kind[5] = {};
  for (const Term& term : terms) {
    total += static_cast<double>(term.length.count());
    by_kind[static_cast<std::size_t>(term.kind)] += static_cast<double>(term.length.count());
  }
  rank.window =
      metrics::Window{metrics::WindowKind::steps, {Nanos{0}, Nanos{static_cast<std::int64_t>(total)}}, steps, 0};
  report::Report report;
  report.classifier = 1;
  report.ranks = {rank};
  const double idle_share = by_kind[0] / total, memory_share = by_kind[4] / total;
  set_metric(report, "gpu.utilization", 1 - idle_share - memory_share);
  set_metric(report, "gpu.exposed_comm", by_kind[3] / total);
  set_metric(report, "gpu.exposed_memory", memory_share);
  set_metric(report, "gpu.idle", idle_share);
  set_metric(report, "step.time_mean", total / static_cast<double>(steps));
  set_metric(report, "step.time_p50", total / static_cast<double>(steps));
  return report;
}

}  // namespace traceweir::gate::cases
