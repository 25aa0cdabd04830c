#include "analyzer/metrics/ranks.hpp"

#include <doctest/doctest.h>

#include "tests/unit/metrics/scene.hpp"

using namespace traceweir;
using namespace traceweir::metrics;
using timeline::Collective;

namespace {

/// A rank with calls of (group, sequence, begin us, duration us).
struct Drawn {
  const char* group;
  std::int64_t sequence;  // 0: none
  std::int64_t begin, duration;
  Collective kind = Collective::allreduce;
  std::int64_t bytes = 0;
};

RankShare rank_of(std::int64_t number, std::initializer_list<Drawn> calls, const char* window = "span") {
  Scene scene;
  scene.kernel(us(0, 100)).kernel(us(900, 1000));
  for (const Drawn& call : calls) {
    timeline::Message message{call.bytes, 2, "", call.group, std::nullopt};
    if (call.sequence != 0) message.sequence = call.sequence;
    scene.collective(us(call.begin, call.begin + call.duration), call.kind, message);
  }
  const timeline::Timeline timeline = scene.finish();
  const auto view = view_of(timeline, with_window({}, window).value());
  REQUIRE(view);
  return share_of(*view, measure(*view), number);
}

const RunMeasurement& find(const std::vector<RunMeasurement>& run, std::string_view metric) {
  for (const RunMeasurement& each : run)
    if (each.mean.metric == metric) return each;
  FAIL("no such metric: " << metric);
  return run.front();
}

std::string said(const std::vector<RunMeasurement>& run, std::string_view metric) {
  const Measurement& mean = find(run, metric).mean;
  return mean.value ? std::to_string(as_double(*mean.value)) : std::string(word(*mean.not_measured));
}

}  // namespace

TEST_CASE("matching: the ladder of metrics.md section 4") {
  struct Row {
    const char* name;
    RankShare a, b;
    const char *matched, *transfer;
  };
  const Row rows[] = {
      {"by sequence, though the order differs", rank_of(0, {{"0", 1, 200, 10}, {"0", 2, 300, 40}}),
       rank_of(1, {{"0", 2, 200, 30}, {"0", 1, 300, 20}}), "2.000000", "20000.000000"},
      {"by sequence, one call is on one rank only", rank_of(0, {{"0", 1, 200, 10}, {"0", 2, 300, 40}}),
       rank_of(1, {{"0", 2, 200, 30}}), "1.000000", "30000.000000"},
      {"by order where a sequence number repeats", rank_of(0, {{"0", 1, 200, 10}, {"0", 1, 300, 40}}),
       rank_of(1, {{"0", 1, 210, 30}, {"0", 2, 310, 20}}), "2.000000", "15000.000000"},
      {"by order where one call has none", rank_of(0, {{"0", 1, 200, 10}, {"0", 0, 300, 40}}),
       rank_of(1, {{"0", 1, 210, 30}, {"0", 2, 310, 20}}), "2.000000", "15000.000000"},
      {"not at all where counts differ too", rank_of(0, {{"0", 0, 200, 10}, {"0", 0, 300, 40}}),
       rank_of(1, {{"0", 0, 210, 30}}), "untrusted_data", "untrusted_data"},
      {"not by order where kinds differ", rank_of(0, {{"", 0, 200, 10}}),
       rank_of(1, {{"", 0, 210, 30, Collective::broadcast}}), "untrusted_data", "untrusted_data"},
      {"groups apart", rank_of(0, {{"0", 0, 200, 10}, {"1", 0, 300, 40}, {"1", 0, 400, 40}}),
       rank_of(1, {{"0", 0, 210, 30}, {"1", 0, 310, 30}}), "1.000000", "10000.000000"},
      {"a group of one rank only", rank_of(0, {{"7", 1, 200, 10}}), rank_of(1, {}), "untrusted_data", "untrusted_data"},
      {"calls without a group are one group", rank_of(0, {{"", 0, 200, 10}}), rank_of(1, {{"", 0, 500, 4}}), "1.000000",
       "4000.000000"},
      {"no calls", rank_of(0, {}), rank_of(1, {}), "no_comm", "no_comm"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const RankShare ranks[] = {row.a, row.b};
    const auto run = measure_run(ranks);
    CHECK(said(run, "allreduce.matched_calls") == row.matched);
    CHECK(said(run, "allreduce.transfer_mean") == row.transfer);
  }
}

TEST_CASE("matching: a call counts if it starts inside every rank's window") {
  // The window of 100..800 us leaves out the second call on rank 1, whose first start is its own clock's zero.
  const RankShare ranks[] = {rank_of(0, {{"0", 1, 200, 10}, {"0", 2, 300, 40}}, "100000:800000"),
                             rank_of(1, {{"0", 1, 200, 30}, {"0", 2, 850, 20}}, "100000:800000")};
  const auto run = measure_run(ranks);
  CHECK(said(run, "allreduce.matched_calls") == "1.000000");
  CHECK(said(run, "allreduce.transfer_mean") == "10000.000000");
}

TEST_CASE("matching: what a message size took") {
  using timeline::Collective;
  const RankShare ranks[] = {rank_of(0, {{"0", 1, 200, 10, Collective::allreduce, 64},
                                         {"0", 2, 300, 40, Collective::allreduce, 64},
                                         {"0", 3, 400, 7, Collective::allreduce, 128},
                                         {"0", 4, 500, 5, Collective::broadcast, 64}}),
                             rank_of(1, {{"0", 1, 200, 30, Collective::allreduce, 64},
                                         {"0", 2, 300, 20, Collective::allreduce, 64},
                                         {"0", 3, 400, 9, Collective::allreduce, 128},
                                         {"0", 4, 500, 3, Collective::broadcast, 64}})};
  const std::vector<MatchedRow> rows = matched_rows(match_calls(ranks));
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].bytes == 64);
  CHECK(rows[0].matched == 2);
  CHECK(rows[0].transfer == Nanos{30'000});
  CHECK(rows[0].calls == 4);
  CHECK(rows[0].total == Nanos{100'000});
  CHECK(rows[1].bytes == 128);
  CHECK(rows[1].transfer == Nanos{7'000});
  CHECK(rows[2].kind == Collective::broadcast);
  CHECK(rows[2].total == Nanos{8'000});
  CHECK(matched_rows(match_calls(std::span(ranks, 1))).empty());
}

TEST_CASE("wait share: per rank, then the mean, with the ranks of the extremes") {
  const RankShare ranks[] = {rank_of(4, {{"0", 1, 200, 10}, {"0", 2, 300, 40}}),
                             rank_of(2, {{"0", 1, 200, 30}, {"0", 2, 300, 40}})};
  const auto run = measure_run(ranks);  // transfer 50; own 50 and 70
  const RunMeasurement& wait = find(run, "allreduce.wait_share");
  CHECK(as_double(*wait.mean.value) == doctest::Approx((0 + 20.0 / 70) / 2));
  CHECK(wait.min == 0);
  CHECK(wait.min_rank == 4);
  CHECK(wait.max == doctest::Approx(20.0 / 70));
  CHECK(wait.max_rank == 2);
}

TEST_CASE("a run's value is the mean of its ranks, with extremes") {
  const RankShare ranks[] = {rank_of(0, {{"0", 1, 200, 100}}), rank_of(1, {{"0", 1, 200, 300}})};
  const auto run = measure_run(ranks);
  const RunMeasurement& utilization = find(run, "gpu.utilization");
  CHECK(as_double(*utilization.mean.value) == doctest::Approx(0.4));
  CHECK(utilization.min == doctest::Approx(0.3));
  CHECK(utilization.max == doctest::Approx(0.5));
  CHECK(utilization.max_rank == 1);
  CHECK(said(run, "allreduce.count") == "1.000000");
  CHECK(said(run, "rank.compute_skew") == "0.000000");
  CHECK(said(run, "rank.step_skew") == "no_steps");
}

TEST_CASE("skew: (max - min) / mean") {
  std::vector<RankShare> ranks;
  for (const std::int64_t busy : {20, 40}) {
    const timeline::Timeline timeline = training(4, 100, busy).finish();
    const auto view = view_of(timeline);
    ranks.push_back(share_of(*view, measure(*view), busy));
  }
  const auto run = measure_run(ranks);
  CHECK(said(run, "rank.compute_skew") == "0.666667");
  CHECK(said(run, "rank.step_skew") == "0.000000");
}

TEST_CASE("a run is not measured where a rank is not") {
  const RankShare talks = rank_of(0, {{"0", 1, 200, 100}});
  const RankShare silent = rank_of(1, {});
  const RankShare other_window = rank_of(1, {{"0", 1, 200, 100}}, "0:500000");
  const timeline::Timeline empty = Scene().finish();
  const auto empty_view = view_of(empty);
  const RankShare idle = share_of(*empty_view, measure(*empty_view), 2);

  const RankShare one_silent[] = {talks, silent};
  CHECK(said(measure_run(one_silent), "allreduce.time_mean") == "no_comm");
  const RankShare two_kinds[] = {talks, other_window};
  for (const RunMeasurement& each : measure_run(two_kinds))
    CHECK(each.mean.not_measured == NotMeasured::untrusted_data);
  const RankShare one_idle[] = {talks, idle};
  for (const RunMeasurement& each : measure_run(one_idle)) CHECK(each.mean.not_measured.has_value());
  CHECK(said(measure_run(one_idle), "allreduce.transfer_mean") == "no_gpu_work");
  CHECK(measure_run({}).empty());
}

TEST_CASE("a run of one rank keeps the rank's values as they are") {
  const RankShare ranks[] = {rank_of(3, {{"0", 1, 200, 100}})};
  const auto run = measure_run(ranks);
  CHECK(std::get<std::int64_t>(*find(run, "allreduce.count").mean.value) == 1);
  CHECK(find(run, "allreduce.count").min_rank == 3);
  for (const char* metric : {"allreduce.transfer_mean", "allreduce.matched_calls", "other.wait_share",
                             "rank.compute_skew", "rank.step_skew"})
    CHECK(said(run, metric) == "single_rank");
  CHECK(run.size() == catalog().size());
}

// Why: a report does not carry its calls; what would need them must not look like a run without communication.
TEST_CASE("ranks of reports: what needs their calls is said to be unknown") {
  RankShare talks = rank_of(0, {{"0", 1, 200, 100}});
  RankShare also = rank_of(1, {{"0", 1, 200, 300}});
  for (RankShare* share : {&talks, &also}) {
    share->calls.clear();
    share->calls_known = false;
  }
  const RankShare apart[] = {talks, also};
  const auto run = measure_run(apart);
  for (const char* metric : {"allreduce.transfer_mean", "allreduce.wait_share", "allreduce.matched_calls"})
    CHECK(said(run, metric) == "ranks_apart");
  CHECK(said(run, "broadcast.matched_calls") == "no_comm");
  CHECK(said(run, "allreduce.count") == "1.000000");
  CHECK(said(run, "rank.compute_skew") == "0.000000");
}
