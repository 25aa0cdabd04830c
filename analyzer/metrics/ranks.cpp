#include "analyzer/metrics/ranks.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "analyzer/metrics/metric_table.hpp"
#include "analyzer/metrics/named.hpp"

namespace traceweir::metrics {
namespace {

using timeline::Collective;
using Calls = std::vector<const CommCall*>;

/// One rank's calls of a process group, in order of begin.
struct Member {
  std::size_t rank;  ///< index in the run
  Calls calls;
};
using Group = std::vector<Member>;

/// The groups of a run; that without a name has a member for every rank.
std::map<std::string_view, Group> groups_of(std::span<const RankShare> ranks) {
  std::map<std::string_view, Group> groups;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    for (const CommCall& call : ranks[rank].calls) {
      Group& group = groups[ranks[rank].groups[call.group]];
      if (group.empty() || group.back().rank != rank) group.push_back({rank, {}});
      group.back().calls.push_back(&call);
    }
  }
  const auto unnamed = groups.find("");
  if (unnamed == groups.end()) return groups;
  Group everyone(ranks.size());
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) everyone[rank].rank = rank;
  for (Member& member : unnamed->second) everyone[member.rank].calls = std::move(member.calls);
  unnamed->second = std::move(everyone);
  return groups;
}

bool by_sequence(const CommCall* a, const CommCall* b) { return *a->sequence < *b->sequence; }

/// Orders each member's calls by sequence number; false where one has calls without, or with equal ones.
bool sort_by_sequence(Group& group) {
  for (Member& member : group) {
    Calls& calls = member.calls;
    if (std::any_of(calls.begin(), calls.end(), [](const CommCall* call) { return !call->sequence; })) return false;
    Calls sorted = calls;
    std::sort(sorted.begin(), sorted.end(), by_sequence);
    const auto equal = [](const CommCall* a, const CommCall* b) { return *a->sequence == *b->sequence; };
    if (std::adjacent_find(sorted.begin(), sorted.end(), equal) != sorted.end()) return false;
  }
  for (Member& member : group) std::sort(member.calls.begin(), member.calls.end(), by_sequence);
  return true;
}

bool same_kind(const Calls& matched) {
  return std::all_of(matched.begin(), matched.end(),
                     [&](const CommCall* call) { return call->kind == matched.front()->kind; });
}

/// One call as its members saw it, by sequence number; empty where a member lacks it or they differ in kind.
Calls matched_by_sequence(const Group& group, const CommCall* call) {
  Calls matched;
  for (const Member& member : group) {
    const auto found = std::lower_bound(member.calls.begin(), member.calls.end(), call, by_sequence);
    if (found == member.calls.end() || *(*found)->sequence != *call->sequence) return {};
    matched.push_back(*found);
  }
  return same_kind(matched) ? matched : Calls{};
}

Calls matched_by_order(const Group& group, std::size_t position) {
  Calls matched;
  for (const Member& member : group) matched.push_back(member.calls[position]);
  return matched;
}

bool orders_agree(const Group& group) {
  const std::size_t count = group.front().calls.size();
  if (std::any_of(group.begin(), group.end(), [count](const Member& member) { return member.calls.size() != count; }))
    return false;
  for (std::size_t i = 0; i < count; ++i)
    if (!same_kind(matched_by_order(group, i))) return false;
  return true;
}

/// The member whose call is the only shortest one and comes after the only longest compute, or nothing.
std::optional<std::size_t> last_to_arrive(const Calls& matched) {
  const auto shorter = [](const CommCall* a, const CommCall* b) { return a->duration < b->duration; };
  const auto less_compute = [](const CommCall* a, const CommCall* b) { return a->compute_before < b->compute_before; };
  const auto last = std::min_element(matched.begin(), matched.end(), shorter);
  if (last != std::max_element(matched.begin(), matched.end(), less_compute)) return std::nullopt;
  for (auto other = matched.begin(); other != matched.end(); ++other)
    if (other != last && (!shorter(*last, *other) || !less_compute(*other, *last))) return std::nullopt;
  return static_cast<std::size_t>(last - matched.begin());
}

/// Adds one matched call, if it starts inside every rank's window.
void add_match(RunMatches& matches, const Group& group, const Calls& matched) {
  if (matched.empty() || !std::all_of(matched.begin(), matched.end(), [](const CommCall* c) { return c->in_window; }))
    return;
  const CommCall* shortest = *std::min_element(
      matched.begin(), matched.end(), [](const CommCall* a, const CommCall* b) { return a->duration < b->duration; });
  KindMatches& kind = matches.kinds[static_cast<std::size_t>(shortest->kind)];
  ++kind.matched;
  ++matches.matched;
  if (const auto last = last_to_arrive(matched)) ++matches.last_to_arrive[group[*last].rank];
  SizeMatches& size = matches.sizes[{shortest->kind, matched.front()->bytes}];
  ++size.matched;
  size.calls += static_cast<std::int64_t>(matched.size());
  kind.transfer.add(shortest->duration.count());
  size.transfer.add(shortest->duration.count());
  for (std::size_t i = 0; i < group.size(); ++i) {
    kind.own[group[i].rank].add(matched[i]->duration.count());
    kind.own_transfer[group[i].rank].add(shortest->duration.count());
    size.own.add(matched[i]->duration.count());
  }
}

void add_group(RunMatches& matches, Group& group) {
  if (group.size() >= 2 && sort_by_sequence(group)) {
    for (const CommCall* call : group.front().calls) add_match(matches, group, matched_by_sequence(group, call));
    return;
  }
  if (group.size() >= 2 && orders_agree(group)) {
    for (std::size_t i = 0; i < group.front().calls.size(); ++i) add_match(matches, group, matched_by_order(group, i));
    return;
  }
  for (const Member& member : group)
    for (const CommCall* call : member.calls) matches.kinds[static_cast<std::size_t>(call->kind)].unmatched = true;
}

/// Why the kind has no matches, or nothing.
std::optional<NotMeasured> nothing_of(const RunView& run, Collective kind) {
  const KindMatches& matches = run.matches.of(kind);
  if (matches.matched > 0) return std::nullopt;
  return matches.seen && matches.unmatched ? NotMeasured::untrusted_data : NotMeasured::no_comm;
}

const Measurement* find(const RankShare& rank, std::string_view metric) {
  const auto found = std::find_if(rank.measurements.begin(), rank.measurements.end(),
                                  [metric](const Measurement& m) { return m.metric == metric; });
  return found == rank.measurements.end() ? nullptr : &*found;
}

/// A metric's value on every rank, or the reason of the first rank that has none.
struct RankValues {
  std::vector<double> values;
  std::optional<NotMeasured> missing;
};

void add_value(RankValues& all, const Measurement* measurement) {
  if (measurement != nullptr && measurement->value)
    all.values.push_back(as_double(*measurement->value));
  else if (!all.missing)
    all.missing = measurement != nullptr ? measurement->not_measured : NotMeasured::no_such_table;
}

RankValues values_of(std::span<const RankShare> ranks, std::string_view metric) {
  RankValues all;
  for (const RankShare& rank : ranks) add_value(all, find(rank, metric));
  return all;
}

/// Whether a rank has no value of the metric for this reason.
bool any_lacks(std::span<const RankShare> ranks, std::string_view metric, NotMeasured reason) {
  return std::any_of(ranks.begin(), ranks.end(), [&](const RankShare& rank) {
    const Measurement* measurement = find(rank, metric);
    return measurement != nullptr && measurement->not_measured == reason;
  });
}

double mean_of(std::span<const double> values) {
  double total = 0;
  for (const double value : values) total += value;
  return total / static_cast<double>(values.size());
}

RunValue skew(const RunView& run, std::string_view metric) {
  const RankValues all = values_of(run.ranks, metric);
  if (all.missing) return {*all.missing, {}};
  const auto [low, high] = std::minmax_element(all.values.begin(), all.values.end());
  const double centre = mean_of(all.values);
  return {centre == 0 ? 0.0 : (*high - *low) / centre, {}};
}

bool kinds_agree(std::span<const RankShare> ranks) {
  std::optional<WindowKind> kind;
  for (const RankShare& rank : ranks) {
    if (!rank.window) continue;
    if (kind && *kind != rank.window->kind) return false;
    kind = rank.window->kind;
  }
  return true;
}

/// The mean's value, and the extremes of the ranks' own (or of the mean, where they have none).
RunMeasurement run_measurement(const MetricInfo& info, const RunValue& value, std::span<const RankShare> ranks) {
  RunMeasurement measured{measurement_of(info, value.value), 0, 0, ranks.front().rank, ranks.front().rank};
  if (!measured.mean.value) return measured;
  if (value.by_rank.empty()) {
    measured.min = measured.max = as_double(*measured.mean.value);
    return measured;
  }
  const auto [low, high] = std::minmax_element(value.by_rank.begin(), value.by_rank.end());
  measured.min = *low;
  measured.max = *high;
  measured.min_rank = ranks[static_cast<std::size_t>(low - value.by_rank.begin())].rank;
  measured.max_rank = ranks[static_cast<std::size_t>(high - value.by_rank.begin())].rank;
  return measured;
}

/// A metric of one rank over the ranks: one rank's value stays as it is, several have a mean.
RunValue over_ranks(const MetricInfo& info, std::span<const RankShare> ranks) {
  RankValues all = values_of(ranks, info.id);
  if (all.missing) return {*all.missing, {}};
  if (ranks.size() > 1) return {mean_of(all.values), std::move(all.values)};
  const Number& only = *find(ranks.front(), info.id)->value;
  return {std::visit([](auto number) -> Value { return number; }, only), std::move(all.values)};
}

/// Whether any rank measured calls of this kind.
bool has_calls(std::span<const RankShare> ranks, Collective kind) {
  return std::any_of(ranks.begin(), ranks.end(), [&](const RankShare& rank) {
    const Measurement* count = find(rank, std::string(word(kind)) + ".count");
    return count != nullptr && count->value;
  });
}

RunValue value_of(const Metric& metric, const RunView& run) {
  if (metric.one_rank()) return over_ranks(metric.info, run.ranks);
  if (run.ranks.size() < 2) return {NotMeasured::single_rank, {}};
  if (metric.of_run != nullptr) return metric.of_run(run);
  for (const NotMeasured reason : {NotMeasured::no_gpu_work, NotMeasured::graph_opaque})
    if (any_lacks(run.ranks, std::string(word(*metric.kind)) + ".count", reason)) return {reason, {}};
  if (std::all_of(run.ranks.begin(), run.ranks.end(), [](const RankShare& rank) { return rank.calls_known; }))
    return metric.of_kind_of_run(run, *metric.kind);
  return {has_calls(run.ranks, *metric.kind) ? NotMeasured::ranks_apart : NotMeasured::no_comm, {}};
}

/// The metrics of the job's own that any rank gives, in the order in which they are first seen.
std::vector<MetricInfo> custom_infos(std::span<const RankShare> ranks) {
  std::vector<MetricInfo> infos;
  std::set<std::string_view> seen;
  for (const RankShare& rank : ranks)
    for (const Measurement& row : rank.measurements)
      if (is_custom(row.metric) && seen.insert(row.metric).second)
        infos.push_back({row.metric, row.unit, row.better, {}});
  return infos;
}

/// Over the ranks as our own; where a rank gives another unit a mean would be of nothing.
RunValue custom_over_ranks(const MetricInfo& info, std::span<const RankShare> ranks) {
  const bool units_agree = std::all_of(ranks.begin(), ranks.end(), [&](const RankShare& rank) {
    const Measurement* row = find(rank, info.id);
    return row == nullptr || row->unit == info.unit;
  });
  if (!units_agree) return {NotMeasured::untrusted_data, {}};
  return over_ranks(info, ranks);
}

}  // namespace

RunMatches match_calls(std::span<const RankShare> ranks) {
  RunMatches matches;
  matches.last_to_arrive.resize(ranks.size());
  for (KindMatches& kind : matches.kinds) {
    kind.own.resize(ranks.size());
    kind.own_transfer.resize(ranks.size());
  }
  for (const RankShare& rank : ranks)
    for (const CommCall& call : rank.calls)
      if (call.in_window) matches.kinds[static_cast<std::size_t>(call.kind)].seen = true;
  for (auto& [name, group] : groups_of(ranks)) add_group(matches, group);
  return matches;
}

std::vector<MatchedRow> matched_rows(const RunMatches& matches) {
  std::vector<MatchedRow> rows;
  for (const auto& [key, size] : matches.sizes)
    rows.push_back(
        {key.first, key.second, size.matched, Nanos{size.transfer.clamped()}, size.calls, Nanos{size.own.clamped()}});
  std::stable_sort(rows.begin(), rows.end(),
                   [](const MatchedRow& a, const MatchedRow& b) { return a.total > b.total; });
  return rows;
}

RunValue kind_transfer_mean(const RunView& run, Collective kind) {
  if (const auto reason = nothing_of(run, kind)) return {*reason, {}};
  const KindMatches& matches = run.matches.of(kind);
  return {matches.transfer.as_double() / static_cast<double>(matches.matched), {}};
}

RunValue kind_matched_calls(const RunView& run, Collective kind) {
  if (const auto reason = nothing_of(run, kind)) return {*reason, {}};
  return {run.matches.of(kind).matched, {}};
}

RunValue kind_wait_share(const RunView& run, Collective kind) {
  if (const auto reason = nothing_of(run, kind)) return {*reason, {}};
  const KindMatches& matches = run.matches.of(kind);
  std::vector<double> by_rank;
  for (std::size_t rank = 0; rank < run.ranks.size(); ++rank) {
    const double own = matches.own[rank].as_double();
    by_rank.push_back(own == 0 ? 0.0 : 1 - matches.own_transfer[rank].as_double() / own);
  }
  return {mean_of(by_rank), by_rank};
}

RunValue compute_skew(const RunView& run) { return skew(run, "gpu.compute"); }
RunValue step_skew(const RunView& run) { return skew(run, "step.time_p50"); }

std::vector<RunMeasurement> measure_run(std::span<const RankShare> ranks) {
  return measure_matched(RunView{ranks, match_calls(ranks)});
}

std::vector<RunMeasurement> measure_matched(const RunView& run) {
  const std::span<const RankShare> ranks = run.ranks;
  std::vector<RunMeasurement> measured;
  if (ranks.empty()) return measured;
  const bool comparable = kinds_agree(ranks);
  for (const Metric& metric : metric_table()) {
    const RunValue value = comparable ? value_of(metric, run) : RunValue{NotMeasured::untrusted_data, {}};
    measured.push_back(run_measurement(metric.info, value, ranks));
  }
  for (const MetricInfo& info : custom_infos(ranks))
    measured.push_back(run_measurement(info, custom_over_ranks(info, ranks), ranks));
  for (RunMeasurement& named : named_of_run(ranks)) {
    if (!comparable)
      named = run_measurement(*family_member(named.mean.metric), {NotMeasured::untrusted_data, {}}, ranks);
    measured.push_back(std::move(named));
  }
  return measured;
}

}  // namespace traceweir::metrics
