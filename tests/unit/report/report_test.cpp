#include "analyzer/report/report.hpp"

#include <doctest/doctest.h>

#include "tests/unit/report/reports.hpp"

namespace traceweir::report::test {
namespace {

std::vector<std::int64_t> ranks_of(const Report& report) {
  std::vector<std::int64_t> ranks;
  for (const RankReport& rank : report.ranks) ranks.push_back(rank.rank);
  return ranks;
}

Result<Report> report_of_ranks(const std::vector<std::optional<std::int64_t>>& stated) {
  std::vector<timeline::Timeline> timelines;
  for (const auto& rank : stated) {
    timelines.push_back(small_timeline());
    timelines.back().rank = rank;
  }
  const std::vector<TraceFacts> facts(timelines.size());
  return report_of(timelines, facts);
}

}  // namespace

// Why: ranks are how values are told apart; a file that says none must not displace one that does.
TEST_CASE("report_of: numbers of ranks") {
  using Stated = std::vector<std::optional<std::int64_t>>;
  struct Row {
    Stated stated;
    std::vector<std::int64_t> want;
  };
  const Row rows[] = {{{std::nullopt}, {0}},
                      {{std::nullopt, std::nullopt}, {0, 1}},
                      {{3, 1}, {1, 3}},
                      {{std::nullopt, 0, std::nullopt}, {0, 1, 2}},
                      {{-1, std::int64_t{1} << 60}, {0, 1}}};  // no rank that a job has
  for (const Row& row : rows) {
    const auto report = report_of_ranks(row.stated);
    REQUIRE(report.has_value());
    CHECK(ranks_of(*report) == row.want);
  }
  timeline::TimelineBuilder stated;
  stated.stated = {{"custom.loss", Number{0.4}, Unit::count, Better::lower}};
  const std::vector<timeline::Timeline> mix = {small_timeline(), std::move(stated).finish()};
  const auto mixed = report_of(mix, std::vector<TraceFacts>(2));
  REQUIRE_FALSE(mixed.has_value());
  CHECK(mixed.error().code == ErrorCode::usage);
  CHECK(mixed.error().message.find("rank 1 has values of the job's own (metrics) and rank 0 is a trace") == 0);
  const auto twice = report_of_ranks({1, 1});
  REQUIRE_FALSE(twice.has_value());
  CHECK(twice.error().code == ErrorCode::usage);
}

TEST_CASE("report_of: the whole analyzer behind the readers") {
  const std::vector<timeline::Timeline> timelines = {small_timeline()};
  const std::vector<TraceFacts> facts = {
      {.format = {}, .compression = "gzip", .bytes = 0, .sha256 = {}, .producer = {}, .name = "a.json"}};
  const auto report = report_of(timelines, facts);
  REQUIRE(report.has_value());
  const RankReport& rank = report->ranks[0];
  CHECK(rank.trace.format == "kineto_json");
  CHECK(rank.trace.compression == "gzip");
  CHECK(rank.trace.bytes == 4711);
  CHECK(rank.environment.gpus == std::vector<std::string>{"NVIDIA H100"});
  REQUIRE(rank.window.has_value());
  CHECK(rank.window->span == ns(1300, 4300));
  CHECK(rank.window->steps == 3);
  REQUIRE(rank.devices.size() == 1);
  // A step: 600 ns of kernel, then 100 idle to the next step's data loading, 200 in it, 10 to the launch, 90 of
  // latency.
  CHECK(rank.devices[0].times.compute == Nanos{1800});
  CHECK(rank.devices[0].idle_causes.at(findings::IdleCause::input) == Nanos{600});
  CHECK(rank.devices[0].idle_causes.at(findings::IdleCause::launch) == Nanos{600});
  CHECK(rank.findings[0].code == FindingCode::few_steps);
  const auto again = from_json(to_json(*report));
  REQUIRE(again.has_value());
  CHECK(to_json(*again) == to_json(*report));
}

// Why: the process that reads a stranger's file says what it found in nothing but a report; one that the service does
// not take would be our own fault.
TEST_CASE("report_of: devices that idle longer than 64 bits hold, together") {
  constexpr std::int64_t far = (std::int64_t{1} << 62) - 10;
  timeline::TimelineBuilder builder;
  for (const std::int64_t ordinal : {0, 1, 2})
    for (const std::int64_t begin : {-far, far})
      builder.add(timeline::WorkRow{
          .span = ns(begin, begin + 5), .device = builder.device(ordinal), .name = builder.name("gemm")});
  const std::vector<timeline::Timeline> timelines = {std::move(builder).finish()};
  const auto report = report_of(timelines, std::vector<TraceFacts>(1));
  REQUIRE(report.has_value());
  const std::string text = to_json(*report);
  CHECK(report->ranks[0].breakdown[0].length == Nanos::max());
  const auto again = from_json(text);
  REQUIRE_MESSAGE(again.has_value(), (again ? std::string() : again.error().message));
  CHECK(to_json(*again) == text);
}

// Why: a file without GPU work is a report that says so, not an error and not a zero.
TEST_CASE("report_of: no GPU work") {
  const std::vector<timeline::Timeline> timelines = {timeline::TimelineBuilder().finish()};
  const auto report = report_of(timelines, std::vector<TraceFacts>(1));
  REQUIRE(report.has_value());
  CHECK_FALSE(report->ranks[0].window.has_value());
  for (const auto& row : report->ranks[0].measurements) {
    CAPTURE(row.metric);
    CHECK(row.not_measured == NotMeasured::no_gpu_work);
  }
  const std::string text = to_json(*report);
  CHECK(text.find("\"window\":null") != std::string::npos);
  const auto again = from_json(text);
  REQUIRE_MESSAGE(again.has_value(), (again ? std::string() : again.error().message));
  CHECK(to_json(*again) == text);
}

TEST_CASE("find_metric: rows of the catalogue by id") {
  REQUIRE(find_metric("gpu.utilization") != nullptr);
  CHECK(find_metric("gpu.utilization")->unit == Unit::ratio);
  CHECK(find_metric("gpu.happiness") == nullptr);
  for (const MetricInfo& row : catalog()) CHECK(find_metric(row.id) == &row);
}

}  // namespace traceweir::report::test
