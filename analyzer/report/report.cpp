#include "analyzer/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyzer/core/assert.hpp"
#include "analyzer/core/text.hpp"
#include "analyzer/core/version.hpp"
#include "analyzer/findings/find.hpp"
#include "analyzer/findings/run_advice.hpp"
#include "analyzer/metrics/named.hpp"
#include "analyzer/metrics/rank_view.hpp"
#include "analyzer/metrics/ranks.hpp"
#include "analyzer/report/rank_kinds.hpp"
#include "analyzer/report/rest.hpp"

namespace traceweir::report {
namespace {

using metrics::RankView;
using timeline::Timeline;

/// A rank beyond this is no rank that a trace states but a mistake in it.
constexpr std::int64_t rank_stated_max = 1'000'000;

std::optional<std::int64_t> stated_rank(const Timeline& timeline) {
  if (!timeline.rank || *timeline.rank < 0 || *timeline.rank > rank_stated_max) return std::nullopt;
  return timeline.rank;
}

/// The number of every rank: what it states, else the lowest free numbers in order.
Result<void> number(std::vector<MeasuredRank>& ranks) {
  std::set<std::int64_t> taken;
  for (const MeasuredRank& rank : ranks)
    if (rank.stated && !taken.insert(*rank.stated).second)
      return fail(ErrorCode::usage, fmt::format("two of the traces are of rank {}", *rank.stated));
  std::int64_t free = 0;
  for (MeasuredRank& rank : ranks) {
    if (!rank.stated)
      while (!taken.insert(free).second) ++free;
    rank.report.rank = rank.share.rank = rank.stated.value_or(free);
  }
  return {};
}

std::string first_known(const std::string& given, const std::string& otherwise) {
  return clean_text(given.empty() ? otherwise : given);
}

TraceFacts trace_of(const TraceFacts& facts, const timeline::TraceSource& source) {
  return {.format = first_known(facts.format, source.format),
          .compression = first_known(facts.compression, source.compression),
          .bytes = facts.bytes != 0 ? facts.bytes : source.bytes,
          .sha256 = facts.sha256,
          .producer = first_known(facts.producer, source.producer),
          .name = clean_text(facts.name)};
}

EnvironmentFacts environment_of(const RankView& view) {
  const Timeline& timeline = *view.timeline;
  EnvironmentFacts out{.gpus = {},
                       .gpu_count = static_cast<std::int64_t>(view.devices.size()),
                       .driver = clean_text(timeline.environment.driver),
                       .cuda = clean_text(timeline.environment.cuda),
                       .nccl = clean_text(timeline.environment.nccl),
                       .framework = clean_text(timeline.environment.framework),
                       .graph_mode = std::string(timeline::word(timeline.graph_mode))};
  for (const metrics::DeviceView& device : view.devices) out.gpus.push_back(device.times.gpu);
  return out;
}

std::vector<DeviceReport> devices_of(const RankView& view, const findings::Attribution& attribution) {
  TRACEWEIR_ASSERT(view.devices.size() == attribution.idle.size());
  std::vector<DeviceReport> devices;
  for (std::size_t i = 0; i < view.devices.size(); ++i)
    devices.push_back({view.devices[i].times, attribution.idle[i].causes});
  return devices;
}

/// One rank, measured through its view.
RankReport rank_of(const RankView& view, metrics::RankMeasures measures, const TraceFacts& facts) {
  const Timeline& timeline = *view.timeline;
  findings::Attribution attribution = findings::attribute(view);
  RankReport out;
  out.world_size = std::clamp<std::int64_t>(timeline.world_size.value_or(0), 0, rank_stated_max + 1);
  out.trace = trace_of(facts, timeline.source);
  out.environment = environment_of(view);
  out.window = measures.window;
  out.devices = devices_of(view, attribution);
  out.findings = findings::find(view, measures, attribution);
  out.breakdown = std::move(attribution.breakdown);
  out.measurements = std::move(measures.measurements);
  out.steps = std::move(measures.steps);
  out.kernels = std::move(measures.kernels);
  out.collectives = std::move(measures.collectives);
  out.phases = std::move(measures.phases);
  return out;
}

}  // namespace

Result<MeasuredRank> measure_rank(const Timeline& timeline, const TraceFacts& facts,
                                  const metrics::MeasureOptions& options) {
  TRACEWEIR_TRY(view, metrics::view_of(timeline, options));
  metrics::RankMeasures measures = metrics::measure(view);
  MeasuredRank rank;
  rank.stated = stated_rank(timeline);
  rank.share = metrics::share_of(view, measures, 0);
  rank.report = rank_of(view, std::move(measures), facts);
  cut_lists(rank.report, ListLimits{});
  return rank;
}

Result<Report> report_of_ranks(std::vector<MeasuredRank> ranks) {
  if (ranks.size() > ranks_max)
    return fail(ErrorCode::usage, fmt::format("{} ranks; a run has at most {}", ranks.size(), ranks_max));
  TRACEWEIR_TRY_VOID(number(ranks));
  std::sort(ranks.begin(), ranks.end(),
            [](const MeasuredRank& a, const MeasuredRank& b) { return a.report.rank < b.report.rank; });
  Report report;
  report.analyzer_version = version;
  report.classifier = classifier_version;
  std::vector<metrics::RankShare> shares;
  for (MeasuredRank& rank : ranks) {
    shares.push_back(std::move(rank.share));
    report.ranks.push_back(std::move(rank.report));
  }
  TRACEWEIR_TRY_VOID(check_kinds(report.ranks));
  const metrics::RunView run{shares, metrics::match_calls(shares)};
  report.measurements = metrics::measure_matched(run);
  report.collectives = metrics::matched_rows(run.matches);
  report.findings = findings::find_in_run(run, report.measurements);
  fit(report);
  return report;
}

Result<Report> report_of(std::span<const Timeline> timelines, std::span<const TraceFacts> facts,
                         const metrics::MeasureOptions& options) {
  TRACEWEIR_ASSERT(timelines.size() == facts.size());
  std::vector<MeasuredRank> ranks;
  for (std::size_t i = 0; i < timelines.size(); ++i) {
    TRACEWEIR_TRY(rank, measure_rank(timelines[i], facts[i], options));
    ranks.push_back(std::move(rank));
  }
  return report_of_ranks(std::move(ranks));
}

std::span<const MetricInfo> catalog() { return metrics::catalog(); }

std::span<const MetricInfo> families() { return metrics::families(); }
std::optional<MetricInfo> family_member(std::string_view id) { return metrics::family_member(id); }

const MetricInfo* find_metric(std::string_view id) {
  static const std::map<std::string_view, const MetricInfo*> rows = [] {
    std::map<std::string_view, const MetricInfo*> by_id;
    for (const MetricInfo& row : catalog()) by_id.emplace(row.id, &row);
    return by_id;
  }();
  const auto row = rows.find(id);
  return row == rows.end() ? nullptr : row->second;
}

}  // namespace traceweir::report
