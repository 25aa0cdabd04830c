#include <doctest/doctest.h>

#include <algorithm>

#include "analyzer/report/report.hpp"
#include "tests/unit/report/reports.hpp"

namespace traceweir::report::test {
namespace {

Report report_with(std::vector<RankReport> ranks) {
  Report report;
  report.analyzer_version = "0.1.0";
  report.classifier = 3;
  report.ranks = std::move(ranks);
  return report;
}

std::vector<std::int64_t> numbers_of(const Report& report) {
  std::vector<std::int64_t> numbers;
  for (const RankReport& rank : report.ranks) numbers.push_back(rank.rank);
  return numbers;
}

const metrics::RunMeasurement& find(const Report& report, std::string_view metric) {
  return *std::find_if(report.measurements.begin(), report.measurements.end(),
                       [&](const auto& measured) { return measured.mean.metric == metric; });
}

}  // namespace

TEST_CASE("merged: every rank has a number of its own, whatever the reports say") {
  const Report apart[] = {report_with({full_rank(3)}), report_with({full_rank(0), full_rank(3)}),
                          report_with({full_rank(0)})};
  const auto run = merged(apart);
  REQUIRE(run);
  CHECK(numbers_of(*run) == std::vector<std::int64_t>{0, 1, 2, 3});
}

TEST_CASE("merged: the run's values are those of its ranks; what needs every call is not measured") {
  RankReport slow = full_rank(1);
  slow.measurements[0].value = Number{0.4};
  const Report apart[] = {report_with({full_rank(0)}), report_with({slow})};
  const auto run = merged(apart);
  REQUIRE(run);
  CHECK(as_double(*find(*run, "gpu.utilization").mean.value) == doctest::Approx(0.5));
  CHECK(find(*run, "gpu.utilization").min_rank == 1);
  CHECK(find(*run, "allreduce.wait_share").mean.not_measured == NotMeasured::ranks_apart);
  CHECK(from_json(to_json(*run)));
}

// Why: side by side each would lack what the other has, and every rule would be inconclusive with wrong advice.
TEST_CASE("merged: values of the job's own are no rank beside traces") {
  RankReport stated = full_rank(1);
  stated.measurements = {{"custom.loss", Number{0.4}, Unit::count, Better::lower, std::nullopt}};
  const Report mix[] = {report_with({full_rank(0)}), report_with({stated})};
  const auto refused = merged(mix);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::usage);
  CHECK(refused.error().message.find("a workload of their own") != std::string::npos);
  const Report alike[] = {report_with({stated}), report_with({stated})};
  CHECK(merged(alike));
}

TEST_CASE("merged: ranks whose windows are of different kinds give no value") {
  RankReport other = full_rank(1);
  other.window->kind = metrics::WindowKind::span;
  other.window->steps.reset();
  const Report apart[] = {report_with({full_rank(0)}), report_with({other})};
  const auto run = merged(apart);
  REQUIRE(run);
  CHECK(find(*run, "gpu.utilization").mean.not_measured == NotMeasured::untrusted_data);
}

TEST_CASE("merged: one report stays as it is; none, or numbers that mean different things, are refused") {
  const Report one[] = {report_with({full_rank(7)})};
  CHECK(to_json(merged(one).value()) == to_json(one[0]));
  CHECK(merged({}).error().code == ErrorCode::bad_body);
  Report newer = report_with({full_rank(1)});
  newer.classifier = 4;
  const Report mixed[] = {report_with({full_rank(0)}), newer};
  CHECK(merged(mixed).error().message.find("3 and 4") != std::string::npos);
}

}  // namespace traceweir::report::test
