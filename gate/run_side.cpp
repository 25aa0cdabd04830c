#include "gate/run_side.hpp"

#include <algorithm>

#include "gate/kernel_names.hpp"

namespace traceweir::gate {
namespace {

using report::RankReport;
using Term = decltype(RankReport::breakdown)::value_type;

/// In the order of findings::IdleCause.
constexpr Cause idle_causes[] = {Cause::idle_input, Cause::idle_sync, Cause::idle_launch, Cause::idle_dependency,
                                 Cause::idle_unknown};
/// In the order of findings::TermKind; of idle terms their own cause counts.
constexpr Cause term_causes[] = {Cause::idle_unknown, Cause::compute, Cause::graph, Cause::exposed_comm,
                                 Cause::exposed_memory};

TermKey key_of(const Term& term) {
  const Cause cause = term_causes[static_cast<std::size_t>(term.kind)];
  switch (cause) {
    case Cause::compute:
      return {cause, normalised_kernel(term.name), 0};
    case Cause::exposed_comm:
      return {cause, std::string(timeline::word(term.collective)), term.bytes};
    case Cause::exposed_memory:
      return {cause, term.name, 0};
    case Cause::graph:
      return {cause, {}, 0};
    default:
      return {idle_causes[static_cast<std::size_t>(term.cause)], term.name, 0};
  }
}

/// A rank's breakdown, each term divided by `divisor`.
TermSums sums_of(const RankReport& rank, double divisor) {
  TermSums sums;
  for (const Term& term : rank.breakdown) sums[key_of(term)] += static_cast<double>(term.length.count()) / divisor;
  return sums;
}

void add_share(TermSums& mean, const TermSums& sums, double ranks) {
  for (const auto& [key, value] : sums) mean[key] += value / ranks;
}

bool has_window(const RankReport& rank) { return rank.window && rank.environment.gpu_count > 0; }
bool has_steps(const RankReport& rank) { return has_window(rank) && rank.window->steps.value_or(0) > 0; }

double steps_or_one(const RankReport& rank) { return has_steps(rank) ? static_cast<double>(*rank.window->steps) : 1.0; }

bool is_rest(const metrics::KernelRow& row, const RankReport& rank) {
  return &row == &rank.kernels.back() && row.name == rest_name;
}

void add_kernels(Kernels& kernels, const RankReport& rank, double ranks) {
  const double scale = 1 / (ranks * steps_or_one(rank));
  for (const metrics::KernelRow& row : rank.kernels) {
    if (is_rest(row, rank)) {
      kernels.complete = false;
      kernels.rest_time += static_cast<double>(row.total.count()) * scale;
    } else if (row.kind == timeline::WorkKind::compute) {
      KernelCalls& calls = kernels.by_name[normalised_kernel(row.name)];
      calls.calls += static_cast<double>(row.count) * scale;
      calls.time += static_cast<double>(row.total.count()) * scale;
    }
  }
}

struct Calls {
  double count = 0, time = 0;
};

/// Transfer times of sizes of which at least half of the calls were matched: fewer do not speak for the others.
void add_transfer(Sizes& sizes, const report::Report& report, timeline::Collective kind,
                  const std::map<std::int64_t, double>& counts) {
  for (const metrics::MatchedRow& row : report.collectives) {
    const auto size = sizes.find(row.bytes);
    if (row.kind != kind || size == sizes.end()) continue;
    if (static_cast<double>(row.calls) * 2 >= counts.at(row.bytes))
      size->second.transfer = static_cast<double>(row.transfer.count()) / static_cast<double>(row.matched);
  }
}

}  // namespace

TermKey rest_of(const TermKey& key) {
  if (key.cause == Cause::exposed_comm) return {key.cause, key.name, 0};
  return {key.cause, std::string(rest_name), 0};
}

RunSide::RunSide(const report::Report& report) : report_(&report) {
  const auto& ranks = report.ranks;
  const auto count = static_cast<double>(ranks.size());
  if (!ranks.empty() && std::all_of(ranks.begin(), ranks.end(), &has_window)) {
    per_window_.emplace();
    for (const RankReport& rank : ranks)
      add_share(*per_window_,
                sums_of(rank, static_cast<double>(rank.window->span.length().count()) *
                                  static_cast<double>(rank.environment.gpu_count)),
                count);
  }
  if (per_window_ && std::all_of(ranks.begin(), ranks.end(), &has_steps)) {
    per_step_.emplace();
    for (const RankReport& rank : ranks) {
      ranks_.push_back(
          {rank.rank, sums_of(rank, steps_or_one(rank) * static_cast<double>(rank.environment.gpu_count))});
      add_share(*per_step_, ranks_.back().sums, count);
    }
  }
  for (const RankReport& rank : ranks)
    if (!rank.kernels.empty()) add_kernels(kernels_, rank, count);
}

Sizes RunSide::sizes(timeline::Collective kind) const {
  Sizes sizes;
  std::map<std::int64_t, double> counts;
  for (const RankReport& rank : report_->ranks) {
    std::map<std::int64_t, Calls> own;
    double total = 0;
    for (const metrics::CollectiveRow& row : rank.collectives) {
      if (row.kind != kind || row.count <= 0) continue;
      own[row.bytes].count += static_cast<double>(row.count);
      own[row.bytes].time += static_cast<double>(row.total.count());
      total += static_cast<double>(row.count);
    }
    if (own.empty()) return {};
    for (const auto& [bytes, calls] : own) {
      sizes[bytes].weight += calls.count / total / static_cast<double>(report_->ranks.size());
      sizes[bytes].time += calls.time / total / static_cast<double>(report_->ranks.size());
      counts[bytes] += calls.count;
    }
  }
  for (auto& [bytes, size] : sizes) size.time /= size.weight;
  add_transfer(sizes, *report_, kind, counts);
  return sizes;
}

const metrics::RunMeasurement* RunSide::measurement(std::string_view metric) const {
  const auto found = std::find_if(report_->measurements.begin(), report_->measurements.end(),
                                  [&](const metrics::RunMeasurement& row) { return row.mean.metric == metric; });
  return found == report_->measurements.end() ? nullptr : &*found;
}

std::optional<double> RunSide::value(std::string_view metric) const {
  const metrics::RunMeasurement* row = measurement(metric);
  if (row == nullptr || !row->mean.value) return std::nullopt;
  return as_double(*row->mean.value);
}

}  // namespace traceweir::gate
