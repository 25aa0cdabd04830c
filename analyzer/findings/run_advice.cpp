#include "analyzer/findings/run_advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

// Every threshold without another source is that of the spec of metrics, section 8.
namespace traceweir::findings {
namespace {

using metrics::RunMeasurement;
using metrics::RunView;

/// The rank that waited longest in matched calls, and how long.
struct Waiting {
  std::size_t rank = 0;
  double waited = 0;
};

Waiting longest_waiting(const RunView& run) {
  Waiting longest;
  for (std::size_t rank = 0; rank < run.ranks.size(); ++rank) {
    double waited = 0;
    for (const metrics::KindMatches& kind : run.matches.kinds)
      waited += kind.own[rank].as_double() - kind.own_transfer[rank].as_double();
    if (waited > longest.waited) longest = {rank, waited};
  }
  return longest;
}

constexpr double straggler_ratio = 0.80;
// Fewer matched calls are no pattern: by chance alone one of two ranks is last in four of five. Ours.
constexpr std::int64_t straggler_calls_min = 10;

std::optional<Finding> straggler(const RunView& run, std::span<const RunMeasurement>) {
  if (run.matches.matched < straggler_calls_min) return std::nullopt;
  const auto& late = run.matches.last_to_arrive;
  const auto most = std::max_element(late.begin(), late.end());
  const double ratio = static_cast<double>(*most) / static_cast<double>(run.matches.matched);
  if (ratio <= straggler_ratio) return std::nullopt;
  const std::int64_t rank = run.ranks[static_cast<std::size_t>(most - late.begin())].rank;
  const Waiting waiting = longest_waiting(run);
  Finding out{.code = FindingCode::straggler,
              .severity = Severity::warning,
              .device = {},
              .count = *most,
              .evidence = {},
              .advice = {}};
  out.evidence["rank"] = rank;
  out.evidence["calls_ratio"] = ratio;
  out.evidence["matched_count"] = run.matches.matched;
  out.evidence["waiting_rank"] = run.ranks[waiting.rank].rank;
  out.evidence["waited_ns"] = waiting.waited;
  out.advice = fmt::format(
      "Rank {} computes longest and comes last to {:.0f} % of the collectives, and the others wait for it; look at "
      "that "
      "rank's share of the work, its GPU's clocks and its node.",
      rank, ratio * 100);
  return out;
}

constexpr double imbalance_ratio = 0.10;

const RunMeasurement* find(std::span<const RunMeasurement> measurements, std::string_view metric) {
  const auto found = std::find_if(measurements.begin(), measurements.end(),
                                  [metric](const RunMeasurement& m) { return m.mean.metric == metric; });
  return found == measurements.end() || !found->mean.value ? nullptr : &*found;
}

std::optional<Finding> rank_imbalance(const RunView&, std::span<const RunMeasurement> measurements) {
  const RunMeasurement* const skew = find(measurements, "rank.compute_skew");
  const RunMeasurement* const compute = find(measurements, "gpu.compute");
  if (skew == nullptr || compute == nullptr) return std::nullopt;
  const double ratio = as_double(*skew->mean.value);
  if (ratio <= imbalance_ratio) return std::nullopt;
  Finding out{.code = FindingCode::rank_imbalance,
              .severity = Severity::warning,
              .device = {},
              .count = 1,
              .evidence = {},
              .advice = {}};
  out.evidence["skew_ratio"] = ratio;
  out.evidence["min_rank"] = compute->min_rank;
  out.evidence["min_ratio"] = compute->min;
  out.evidence["max_rank"] = compute->max_rank;
  out.evidence["max_ratio"] = compute->max;
  out.advice =
      "The ranks do not compute equally long; spread the work evenly (sharding, batch sizes, sequence lengths, "
      "pipeline "
      "stages).";
  return out;
}

constexpr std::optional<Finding> (*run_findings[])(const RunView&, std::span<const RunMeasurement>) = {&straggler,
                                                                                                       &rank_imbalance};

}  // namespace

std::vector<Finding> find_in_run(const RunView& run, std::span<const RunMeasurement> measurements) {
  std::vector<Finding> findings;
  if (run.ranks.size() < 2) return findings;
  for (const auto seen : run_findings)
    if (auto finding = seen(run, measurements)) findings.push_back(*std::move(finding));
  return findings;
}

}  // namespace traceweir::findings
