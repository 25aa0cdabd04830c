#include "analyzer/report/rank_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace traceweir::report {
namespace {

bool states_values(const RankReport& rank) {
  return std::any_of(rank.measurements.begin(), rank.measurements.end(),
                     [](const metrics::Measurement& measured) { return is_custom(measured.metric); });
}

}  // namespace

Result<void> check_kinds(std::span<const RankReport> ranks) {
  const auto stated = std::find_if(ranks.begin(), ranks.end(), states_values);
  const auto traced = std::find_if_not(ranks.begin(), ranks.end(), states_values);
  if (stated == ranks.end() || traced == ranks.end()) return {};
  return fail(ErrorCode::usage,
              fmt::format("rank {} has values of the job's own (metrics) and rank {} is a trace, which are no ranks of "
                          "one run: give the values in a call of their own, to a workload of their own",
                          stated->rank, traced->rank));
}

}  // namespace traceweir::report
