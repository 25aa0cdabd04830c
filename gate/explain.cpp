#include "gate/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gate/causes.hpp"
#include "gate/evidence.hpp"
#include "gate/metric_facts.hpp"
#include "gate/units.hpp"

namespace traceweir::gate {
namespace {

// Which terms a metric is the sum of.
constexpr unsigned idle = 1, compute = 2, graph = 4, comm = 8, memory = 16, everything = 31;

struct ExplainedMetric {
  std::string_view id;
  Per per;
  unsigned terms;
  double sign;           ///< -1: the metric is the whole without the terms
  bool of_single_steps;  ///< a quantile: its difference from the mean's is a row of its own
};
constexpr ExplainedMetric explained[] = {
    {"step.time_p50", Per::step, everything, 1, true},   {"step.time_mean", Per::step, everything, 1, false},
    {"step.time_p95", Per::step, everything, 1, true},   {"gpu.utilization", Per::window, idle | memory, -1, false},
    {"gpu.idle", Per::window, idle, 1, false},           {"gpu.compute", Per::window, compute, 1, false},
    {"gpu.exposed_comm", Per::window, comm, 1, false},   {"gpu.exposed_memory", Per::window, memory, 1, false},
    {"comm.exposed_per_step", Per::step, comm, 1, false}};
/// Of these the first ones are what a comparison explains; the others only where a rule asks.
constexpr std::size_t compared_terms = 5;

unsigned class_of(Cause cause) {
  if (cause == Cause::compute) return compute;
  if (cause == Cause::graph) return graph;
  if (cause == Cause::exposed_comm) return comm;
  return cause == Cause::exposed_memory ? memory : idle;
}

const ExplainedMetric* row_of(std::string_view metric) {
  const auto* row = std::find_if(std::begin(explained), std::end(explained),
                                 [&](const ExplainedMetric& candidate) { return candidate.id == metric; });
  return row == std::end(explained) ? nullptr : row;
}

constexpr std::string_view collective_suffix = ".time_mean";

std::optional<timeline::Collective> collective_in(std::string_view metric) {
  if (!metric.ends_with(collective_suffix)) return std::nullopt;
  return timeline::collective_of(metric.substr(0, metric.size() - collective_suffix.size()));
}

/// A rank's time per step outside communication.
double own_time(const RankSums& rank) {
  double sum = 0;
  for (const auto& [key, value] : rank.sums)
    if (key.cause != Cause::exposed_comm) sum += value;
  return sum;
}

bool same_ranks(const RunSide& base, const RunSide& head) {
  return base.ranks().size() > 1 &&
         std::equal(base.ranks().begin(), base.ranks().end(), head.ranks().begin(), head.ranks().end(),
                    [](const RankSums& a, const RankSums& b) { return a.rank == b.rank; });
}

/// One rank's part of a change must be this much of it before the rank is named.
constexpr double concentration_min = 0.7;
/// A change of this part of the step is worth naming a rank for.
constexpr double growth_share_min = 0.005;

/// The one rank that holds most of the change, given each rank's change.
std::optional<std::size_t> concentrated(const std::vector<double>& changes) {
  double total = 0;
  for (const double change : changes) total += std::abs(change);
  const auto largest =
      std::max_element(changes.begin(), changes.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
  if (changes.size() < 2 || total <= 0 || std::abs(*largest) < concentration_min * total) return std::nullopt;
  return static_cast<std::size_t>(largest - changes.begin());
}

std::optional<Straggler> straggler_of(const RunSide& base, const RunSide& head) {
  if (!same_ranks(base, head)) return std::nullopt;
  std::vector<double> growth;
  double before = 0;
  for (std::size_t i = 0; i < base.ranks().size(); ++i) {
    growth.push_back(own_time(head.ranks()[i]) - own_time(base.ranks()[i]));
    before = std::max(before, own_time(base.ranks()[i]));
  }
  const auto rank = concentrated(growth);
  if (!rank || std::abs(growth[*rank]) < growth_share_min * before) return std::nullopt;
  return Straggler{base.ranks()[*rank].rank, growth[*rank]};
}

}  // namespace

bool is_explained(std::string_view metric) { return row_of(metric) != nullptr || collective_in(metric); }

std::vector<std::string> compared_metrics() {
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < compared_terms; ++i) ids.emplace_back(explained[i].id);
  for (const timeline::Collective kind : timeline::collectives)
    ids.push_back(fmt::format("{}{}", timeline::word(kind), collective_suffix));
  return ids;
}

Explainer::Explainer(const report::Report& base, const report::Report& head)
    : base_(base), head_(head), straggler_(straggler_of(base_, head_)) {}

std::optional<std::int64_t> Explainer::rank_of(const std::vector<TermKey>& keys) const {
  if (!same_ranks(base_, head_)) return std::nullopt;
  std::vector<double> changes;
  for (std::size_t i = 0; i < base_.ranks().size(); ++i) {
    double change = 0;
    for (const TermKey& key : keys) {
      const auto before = base_.ranks()[i].sums.find(key), after = head_.ranks()[i].sums.find(key);
      if (after != head_.ranks()[i].sums.end()) change += after->second;
      if (before != base_.ranks()[i].sums.end()) change -= before->second;
    }
    changes.push_back(change);
  }
  const auto rank = concentrated(changes);
  return rank ? std::optional(base_.ranks()[*rank].rank) : std::nullopt;
}

std::string Explainer::kernel_note(const std::string& name) const {
  const auto before = base_.kernels().by_name.find(name), after = head_.kernels().by_name.find(name);
  const bool in_base = before != base_.kernels().by_name.end(), in_head = after != head_.kernels().by_name.end();
  if (!in_base && !in_head) return {};
  if (!in_base) return base_.kernels().complete ? "new" : "";
  if (!in_head) return head_.kernels().complete ? "gone" : "";
  const bool stepwise = base_.terms(Per::step) && head_.terms(Per::step);
  const KernelCalls& a = before->second;
  const KernelCalls& b = after->second;
  constexpr double other_count = 0.01, other_time = 0.02;
  if (stepwise && std::abs(b.calls - a.calls) > other_count * std::max(a.calls, b.calls))
    return fmt::format("{} calls a step instead of {}", count_text(b.calls), count_text(a.calls));
  if (a.calls <= 0 || b.calls <= 0) return {};
  const double mean_before = a.time / a.calls, mean_after = b.time / b.calls;
  if (std::abs(mean_after - mean_before) <= other_time * std::max(mean_before, mean_after)) return {};
  const HumanPair pair = human_pair(mean_before, mean_after, Unit::ns);
  return fmt::format("{} a call instead of {}", pair.to, pair.from);
}

std::vector<Part> Explainer::parts_of_terms(Per per) const {
  TermSums before = *base_.terms(per), after = *head_.terms(per);
  fold_missing(before, after);
  std::vector<Part> parts = differences(before, after);
  for (Part& part : parts)
    if (part.key.cause == Cause::compute && part.delta != 0) part.note = kernel_note(part.key.name);
  return parts;
}

std::optional<Explanation> Explainer::explain(std::string_view metric) const {
  const auto before = base_.value(metric), after = head_.value(metric);
  const auto info = metric_info(metric);
  if (!before || !after || !info || !std::isfinite(*after - *before)) return std::nullopt;
  Explanation out{std::string(metric), info->unit, {}, *before, *after, *after - *before, {}, {}};
  std::vector<Part> parts;
  double sign = 1;
  if (const ExplainedMetric* row = row_of(metric)) {
    if (!base_.terms(row->per) || !head_.terms(row->per)) return std::nullopt;
    sign = row->sign;
    parts = parts_of_terms(row->per);
    std::erase_if(parts, [row](const Part& part) { return (class_of(part.key.cause) & row->terms) == 0; });
    double mean = 0;
    for (Part& part : parts) mean += part.delta *= sign;
    if (row->of_single_steps) parts.push_back({{Cause::distribution, {}, 0}, out.delta - mean, {}});
  } else if (const auto kind = collective_in(metric)) {
    const Sizes in_base = base_.sizes(*kind), in_head = head_.sizes(*kind);
    if (in_base.empty() || in_head.empty()) return std::nullopt;
    parts = collective_parts(*kind, in_base, in_head);
  } else {
    return std::nullopt;
  }
  out.contributions = contributions_of(parts, out.delta);
  out.sentence = sentence_of(out, parts, {*this, sign});
  return out;
}

}  // namespace traceweir::gate
