#include "gate/workload_identity.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "gate/units.hpp"

namespace traceweir::gate {
namespace {

/// The part of `own` compute time in kernels that `other` does not have. Of a list that was cut nobody knows what is
/// missing: there a kernel counts only if it is longer than everything that was cut together.
std::optional<double> foreign_share(const Kernels& own, const Kernels& other) {
  double total = own.rest_time, foreign = 0;
  for (const auto& [name, calls] : own.by_name) {
    total += calls.time;
    if (other.by_name.contains(name)) continue;
    if (other.complete || calls.time > other.rest_time) foreign += calls.time;
  }
  return total > 0 ? std::optional(foreign / total) : std::nullopt;
}

std::optional<double> ratio_of(const std::optional<double>& a, const std::optional<double>& b) {
  if (!a || !b || *a <= 0 || *b <= 0) return std::nullopt;
  return std::max(*a / *b, *b / *a);
}

std::string metric_of(timeline::Collective kind, const char* what) {
  return fmt::format("{}.{}", timeline::word(kind), what);
}

double calls_of(const RunSide& side, timeline::Collective kind) {
  return side.value(metric_of(kind, "count")).value_or(0);
}

/// The kinds that only `own` has, each with its share of the run's calls.
void add_lone_kinds(IdentityDistance& distance, const RunSide& own, const RunSide& other) {
  double total = 0;
  for (const timeline::Collective kind : timeline::collectives) total += calls_of(own, kind);
  for (const timeline::Collective kind : timeline::collectives)
    if (calls_of(own, kind) > 0 && calls_of(other, kind) <= 0)
      distance.lone_kinds.emplace(timeline::word(kind), calls_of(own, kind) / total);
}

/// Bytes per step over the kinds that both runs have, where all sizes are known.
std::optional<double> bytes_per_step(const RunSide& side, const std::vector<timeline::Collective>& kinds) {
  double bytes = 0;
  for (const timeline::Collective kind : kinds) {
    const auto count = side.value(metric_of(kind, "count_per_step")), size = side.value(metric_of(kind, "bytes_mean"));
    if (!count || !size) return std::nullopt;
    bytes += *count * *size;
  }
  return kinds.empty() ? std::nullopt : std::optional(bytes);
}

std::string times(double ratio) { return fmt::format("{:.1f} times", ratio); }

/// The reason in words where a distance is beyond its limit.
void add_reason(std::vector<std::string>& reasons, const std::optional<double>& distance, double limit,
                const std::string& text) {
  if (distance && *distance > limit) reasons.push_back(text);
}

std::string pair_text(const RunSide& base, const RunSide& head, const char* metric, Unit unit) {
  const auto before = base.value(metric), after = head.value(metric);
  if (!before || !after) return {};
  return fmt::format(" ({} instead of {})", human(*after, unit), human(*before, unit));
}

}  // namespace

IdentityDistance identity_distance(const RunSide& base, const RunSide& head) {
  IdentityDistance distance;
  const auto of_base = foreign_share(base.kernels(), head.kernels());
  const auto of_head = foreign_share(head.kernels(), base.kernels());
  if (of_base && of_head) distance.foreign_kernels = std::max(*of_base, *of_head);
  distance.launches = ratio_of(base.value("launch.count_per_step"), head.value("launch.count_per_step"));
  add_lone_kinds(distance, base, head);
  add_lone_kinds(distance, head, base);
  std::vector<timeline::Collective> common;
  for (const timeline::Collective kind : timeline::collectives) {
    if (calls_of(base, kind) <= 0 || calls_of(head, kind) <= 0) continue;
    common.push_back(kind);
    const auto calls =
        ratio_of(base.value(metric_of(kind, "count_per_step")), head.value(metric_of(kind, "count_per_step")));
    if (calls) distance.calls = std::max(distance.calls.value_or(1), *calls);
  }
  distance.bytes = ratio_of(bytes_per_step(base, common), bytes_per_step(head, common));
  return distance;
}

std::optional<WorkloadChange> workload_change(const RunSide& base, const RunSide& head, const IdentityLimits& limits) {
  const IdentityDistance distance = identity_distance(base, head);
  WorkloadChange change;
  add_reason(change.reasons, distance.foreign_kernels, limits.foreign_kernels,
             fmt::format("{:.0f} % of the compute time is in kernels that the other run does not have",
                         distance.foreign_kernels.value_or(0) * 100));
  add_reason(change.reasons, distance.launches, limits.launches,
             fmt::format("the kernels a step differ {}{}", times(distance.launches.value_or(1)),
                         pair_text(base, head, "launch.count_per_step", Unit::count)));
  add_reason(change.reasons, distance.bytes, limits.bytes,
             fmt::format("the bytes communicated a step differ {}", times(distance.bytes.value_or(1))));
  add_reason(change.reasons, distance.calls, limits.calls,
             fmt::format("the collective calls a step differ {}", times(distance.calls.value_or(1))));
  for (const auto& [kind, share] : distance.lone_kinds)
    if (share >= limits.lone_kind)
      change.reasons.push_back(
          fmt::format("{} is {:.0f} % of the collective calls of one run, and the other has none", kind, share * 100));
  if (change.reasons.empty()) return std::nullopt;
  change.sentence =
      fmt::format("Workload changed: {}. These numbers compare two programs.", fmt::join(change.reasons, "; "));
  return change;
}

}  // namespace traceweir::gate
