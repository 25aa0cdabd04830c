#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyzer/report/rank_kinds.hpp"
#include "analyzer/report/report.hpp"
#include "analyzer/report/rest.hpp"

namespace traceweir::report {
namespace {

bool has_finding(const std::vector<Finding>& findings, const Finding& finding) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& f) { return f.code == finding.code; });
}

/// The ranks of all reports, each with a number of its own.
std::vector<RankReport> ranks_of(std::span<const Report> reports) {
  std::vector<RankReport> ranks;
  std::set<std::int64_t> taken;
  std::vector<std::size_t> homeless;
  for (const Report& report : reports) {
    for (const RankReport& rank : report.ranks) {
      if (!taken.insert(rank.rank).second) homeless.push_back(ranks.size());
      ranks.push_back(rank);
    }
  }
  std::int64_t free = 0;
  for (const std::size_t rank : homeless) {
    while (!taken.insert(free).second) ++free;
    ranks[rank].rank = free;
  }
  std::sort(ranks.begin(), ranks.end(), [](const RankReport& a, const RankReport& b) { return a.rank < b.rank; });
  return ranks;
}

}  // namespace

Result<Report> merged(std::span<const Report> reports) {
  if (reports.empty()) return fail(ErrorCode::bad_body, "there is no report");
  if (reports.size() == 1) return reports.front();
  Report run;
  run.analyzer_version = reports.front().analyzer_version;
  run.classifier = reports.front().classifier;
  for (const Report& report : reports) {
    if (report.classifier != run.classifier)
      return fail(ErrorCode::bad_body,
                  fmt::format("classifier: the ranks were analysed by versions that differ ({} and {}), whose numbers "
                              "cannot be put together",
                              run.classifier, report.classifier));
    for (const Finding& finding : report.findings)
      if (!has_finding(run.findings, finding)) run.findings.push_back(finding);
  }
  run.ranks = ranks_of(reports);
  TRACEWEIR_TRY_VOID(check_kinds(run.ranks));
  std::vector<metrics::RankShare> shares;
  for (const RankReport& rank : run.ranks) shares.push_back({rank.rank, rank.window, rank.measurements, {}, {}, false});
  run.measurements = metrics::measure_run(shares);
  fit(run);
  return run;
}

}  // namespace traceweir::report
