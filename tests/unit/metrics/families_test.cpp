// Every metric of one rank by hand, on drawings small enough to check with a pencil.
#include <doctest/doctest.h>

#include "analyzer/metrics/collectives.hpp"
#include "analyzer/metrics/metric_table.hpp"
#include "tests/unit/metrics/scene.hpp"

using namespace traceweir;
using namespace traceweir::metrics;
using timeline::Collective;
using timeline::Direction;
using timeline::HostMemory;

namespace {

RankMeasures measured(const timeline::Timeline& timeline, const MeasureOptions& options = {}) {
  const auto view = view_of(timeline, options);
  REQUIRE(view);
  return measure(*view);
}

struct Said {
  const char* metric;
  const char* want;
};

void check(const RankMeasures& measures, std::initializer_list<Said> rows) {
  for (const Said& row : rows) {
    CAPTURE(std::string(row.metric));
    CHECK(said(measures, row.metric) == std::string(row.want));
  }
}

}  // namespace

// Source of the expected numbers: nccl-tests, doc/PERFORMANCE.md.
TEST_CASE("bus bandwidth of one call") {
  struct Row {
    Collective kind;
    std::int64_t bytes, group, ns;
    double want;  // 0: none
  };
  const Row rows[] = {
      {Collective::allreduce, 1073741824, 8, 10000000, 187.904819},
      {Collective::allgather, 1073741824, 8, 10000000, 93.95241},
      {Collective::reducescatter, 1073741824, 8, 10000000, 93.95241},
      {Collective::alltoall, 1073741824, 8, 10000000, 93.95241},
      {Collective::broadcast, 1073741824, 8, 10000000, 107.374182},
      {Collective::reduce, 1073741824, 8, 10000000, 107.374182},
      {Collective::sendrecv, 1073741824, 8, 10000000, 107.374182},
      {Collective::allreduce, 24576, 2, 22272, 1.103448},
      {Collective::other, 24576, 2, 22272, 0},
      {Collective::allreduce, 24576, 1, 22272, 0},
      {Collective::allreduce, 24576, 0, 22272, 0},
      {Collective::allreduce, 0, 2, 22272, 0},
      {Collective::allreduce, 24576, 2, 0, 0},
  };
  for (const Row& row : rows) {
    CAPTURE(word(row.kind));
    const auto got = bus_bandwidth(row.kind, row.bytes, row.group, Nanos{row.ns});
    CHECK(got.has_value() == (row.want != 0));
    if (got) CHECK(*got == doctest::Approx(row.want).epsilon(1e-6));
  }
}

TEST_CASE("collectives: calls that start in the window, uncut; unions cut") {
  // Steps of 100 us; kernels 10..30 of each. Window: [10, 310) us, 3 periods (4 steps, none skipped).
  Scene scene = training(4, 100, 20);
  const timeline::Message mib{1 << 20, 2, "Float", "0", 1};
  const timeline::Message big{4 << 20, 2, "Float", "0", 2};
  scene.collective(us(20, 60), Collective::allreduce, mib);    // 10 us under compute
  scene.collective(us(120, 140), Collective::allreduce, big);  // 10 us under compute
  scene.collective(us(300, 350), Collective::allreduce, timeline::Message{0, 2, "Float", "0", 3});  // cut to 10 us
  scene.collective(us(0, 15), Collective::broadcast);  // starts before the window
  const timeline::Timeline timeline = scene.finish();
  MeasureOptions options;
  options.skip_steps = 0;
  check(measured(timeline, options), {
                                         {"allreduce.count", "3"},
                                         {"allreduce.time_total", "110000"},
                                         {"allreduce.time_max", "50000"},
                                         {"allreduce.time_mean", "36666.666667"},
                                         {"allreduce.time_p50", "40000.000000"},
                                         {"allreduce.time_p95", "49000.000000"},
                                         {"allreduce.share", "0.233333"},          // 40 + 20 + 10 of 300
                                         {"allreduce.exposed_share", "0.166667"},  // 30 + 10 + 10 of 300
                                         {"allreduce.time_per_step", "36666.666667"},
                                         {"allreduce.count_per_step", "1.000000"},
                                         {"allreduce.exposed_per_step", "16666.666667"},
                                         {"allreduce.bytes_mean", "2621440.000000"},
                                         {"allreduce.busbw", "117.964800"},  // median of 26.2144 and 209.7152
                                         {"allreduce.small_share", "0.500000"},
                                         {"broadcast.share", "no_comm"},
                                         {"comm.share", "0.250000"},  // 10..15 more
                                         {"comm.exposed_per_step", "16666.666667"},
                                         {"comm.overlap", "0.333333"},  // 25 of 75
                                     });
}

TEST_CASE("copies by direction") {
  Scene scene = training(4, 100, 20);
  scene.copy(us(20, 60), Direction::h2d, 40000, HostMemory::pageable);
  scene.copy(us(40, 80), Direction::h2d, 40000, HostMemory::pinned);
  scene.copy(us(140, 150), Direction::d2h, 20000, HostMemory::pinned);
  scene.copy(us(150, 160), Direction::d2h, 999, HostMemory::unknown);
  scene.copy(us(240, 250), Direction::d2d, 555);
  scene.copy(us(350, 360), Direction::h2d, 777, HostMemory::pageable);  // after the window
  const timeline::Timeline timeline = scene.finish();
  MeasureOptions options;
  options.skip_steps = 0;
  check(measured(timeline, options), {
                                         {"memcpy.h2d_share", "0.200000"},  // 20..80 of 300
                                         {"memcpy.d2h_share", "0.066667"},
                                         {"memcpy.d2d_share", "0.033333"},
                                         {"memcpy.h2d_overlap", "0.166667"},  // 20..30 of 60
                                         {"memcpy.h2d_time_per_step", "20000.000000"},
                                         {"memcpy.d2h_time_per_step", "6666.666667"},
                                         {"memcpy.d2d_time_per_step", "3333.333333"},
                                         {"memcpy.h2d_bytes_per_step", "26666.666667"},
                                         {"memcpy.d2h_bytes_per_step", "6999.666667"},
                                         {"memcpy.h2d_bandwidth", "1.000000"},  // 80000 bytes in 80000 ns
                                         {"memcpy.pageable_share", "0.400000"},
                                     });
}

TEST_CASE("host: blocking calls per thread, allocations, launches") {
  Scene scene = training(4, 100, 20);  // kernels start 5 us after their call ends and take 20 us
  scene.call(us(30, 60), "cudaStreamSynchronize");
  scene.call(us(50, 80), "cudaDeviceSynchronize");              // overlaps on the same thread: 30..80
  scene.on_thread(2).call(us(70, 90), "cudaEventSynchronize");  // another thread: added
  scene.call(us(300, 350), "cudaMemcpy");                       // cut to 10 us; no Async: blocks
  scene.call(us(5, 20), "cudaStreamSynchronize");               // starts before the window, 10 us inside
  scene.call(us(200, 201), "cudaMalloc").call(us(210, 211), "cudaFree").call(us(211, 212), "cudaEventRecord");
  scene.on_thread(1).launched_by(us(240, 245)).kernel(us(246, 250), "tiny");
  const timeline::Timeline timeline = scene.finish();
  MeasureOptions options;
  options.skip_steps = 0;
  check(measured(timeline, options), {
                                         {"sync.share", "0.300000"},  // 50 + 20 + 10 + 10 of 300
                                         {"sync.time_per_step", "30000.000000"},
                                         {"sync.count_per_step", "1.333333"},
                                         {"alloc.count_per_step", "0.666667"},
                                         {"launch.count_per_step", "1.333333"},
                                         {"launch.kernel_p50", "20000.000000"},
                                         {"launch.delay_p50", "5000.000000"},
                                     });
}

TEST_CASE("steps: periods, their spread and their values") {
  Scene scene;
  const std::int64_t starts[] = {0, 100, 220, 300, 410};
  for (std::size_t i = 0; i < 5; ++i) {
    const std::int64_t t = starts[i];
    scene.range(us(t, t + 80), "ProfilerStep#" + std::to_string(i + 7));
    scene.launched_by(us(t + 1, t + 2)).kernel(us(t + 5, t + 45));
  }
  scene.collective(us(130, 165), Collective::allreduce);
  const timeline::Timeline timeline = scene.finish();
  const RankMeasures measures = measured(timeline);  // periods of steps 1, 2, 3: 120, 80, 110 us
  check(measures, {
                      {"step.time_mean", "103333.333333"},
                      {"step.time_p50", "110000.000000"},
                      {"step.time_p95", "119000.000000"},
                      {"step.time_cv", "0.201452"},
                  });
  REQUIRE(measures.steps.size() == 3);
  const StepValues& first = measures.steps.front();
  CHECK(first.index == 1);
  CHECK(first.name == "ProfilerStep#8");
  CHECK(first.length == Nanos{120000});
  CHECK(first.values.at("gpu.utilization") == doctest::Approx(60.0 / 120));
  CHECK(first.values.at("gpu.idle") == doctest::Approx(60.0 / 120));
  CHECK(first.values.at("comm.exposed_per_step") == doctest::Approx(20000));
  CHECK(first.values.at("allreduce.time_mean") == doctest::Approx(35000));
  CHECK(measures.steps.back().values.count("allreduce.time_mean") == 0);
}

TEST_CASE("steps: at most 200 values, first and last among them") {
  const timeline::Timeline timeline = training(1000, 100, 20).finish();
  const RankMeasures measures = measured(timeline);
  REQUIRE(measures.steps.size() == step_values_max);
  CHECK(measures.steps.front().index == 1);
  CHECK(measures.steps.back().index == 998);
}

// Why: a metric that is silently 0 where the trace says nothing passes a gate that it should not.
TEST_CASE("not measured is not zero: which reason, and which comes first") {
  struct Row {
    const char* name;
    timeline::Timeline timeline;
    std::vector<Said> said;
  };
  Scene no_calls;
  no_calls.builder().has_host_calls = false;
  no_calls.kernel(us(0, 10));
  Scene orphan;
  orphan.kernel(us(0, 10));
  Row rows[] = {
      {"kernels alone",
       Scene().launched_by(us(0, 1)).kernel(us(2, 10)).finish(),
       {{"gpu.exposed_comm", "0.000000"},
        {"comm.share", "0.000000"},
        {"comm.overlap", "no_comm"},
        {"comm.exposed_per_step", "no_steps"},
        {"allreduce.count", "no_comm"},
        {"allreduce.count_per_step", "no_comm"},
        {"allreduce.bytes_mean", "no_comm"},
        {"allreduce.small_share", "no_comm"},
        {"memcpy.h2d_share", "0.000000"},
        {"memcpy.h2d_overlap", "no_copies"},
        {"memcpy.h2d_bandwidth", "no_copies"},
        {"memcpy.pageable_share", "no_copies"},
        {"memcpy.h2d_bytes_per_step", "no_steps"},
        {"sync.share", "0.000000"},
        {"sync.count_per_step", "no_steps"},
        {"launch.count_per_step", "no_steps"},
        {"launch.delay_p50", "1000.000000"},
        {"step.time_mean", "no_steps"},
        {"step.time_p50", "no_steps"},
        {"step.time_cv", "no_steps"}}},
      {"steps without communication",
       training(4, 100, 20).finish(),
       {{"comm.exposed_per_step", "0.000000"},
        {"memcpy.h2d_bytes_per_step", "0.000000"},
        {"memcpy.h2d_time_per_step", "0.000000"},
        {"sync.count_per_step", "0.000000"}}},
      {"communication without sizes",
       Scene().collective(us(0, 10), Collective::alltoall).finish(),
       {{"alltoall.count", "1"},
        {"alltoall.bytes_mean", "no_sizes"},
        {"alltoall.busbw", "no_sizes"},
        {"alltoall.time_per_step", "no_steps"},
        {"comm.overlap", "0.000000"},
        {"launch.delay_p50", "no_host_calls"}}},
      {"a group of one has a size and no bandwidth",
       Scene().collective(us(0, 10), Collective::reduce, timeline::Message{64, 1, "Float", "0", {}}).finish(),
       {{"reduce.bytes_mean", "64.000000"}, {"reduce.busbw", "no_sizes"}}},
      {"copies alone",
       Scene().copy(us(0, 10), Direction::d2h, 8).finish(),
       {{"memcpy.pageable_share", "unknown_memory_kind"},
        {"launch.kernel_p50", "no_gpu_work"},
        {"launch.delay_p50", "no_gpu_work"},
        {"gpu.utilization", "0.000000"},
        {"gpu.exposed_memory", "1.000000"}}},
      {"copies without bytes",
       Scene().copy(us(0, 10), Direction::h2d, 0, HostMemory::pinned).finish(),
       {{"memcpy.h2d_bandwidth", "no_sizes"}, {"memcpy.pageable_share", "no_sizes"}}},
      {"no host calls in the trace",
       no_calls.finish(),
       {{"sync.share", "no_host_calls"},
        {"sync.time_per_step", "no_host_calls"},
        {"sync.count_per_step", "no_host_calls"},
        {"alloc.count_per_step", "no_host_calls"},
        {"launch.delay_p50", "no_host_calls"}}},
      {"host calls, none of which launches", orphan.finish(), {{"launch.delay_p50", "no_host_calls"}}},
      {"two steps",
       training(2, 100, 20).finish(),
       {{"step.time_mean", "no_steps"}, {"step.time_p50", "100000.000000"}, {"step.time_cv", "few_steps"}}},
  };
  for (Row& row : rows) {
    CAPTURE(row.name);
    const RankMeasures measures = measured(row.timeline);
    for (const Said& each : row.said) {
      CAPTURE(each.metric);
      CHECK(said(measures, each.metric) == each.want);
    }
  }
}

TEST_CASE("catalogue: ids are one to one, and every row is complete") {
  std::map<std::string, int> ids;
  for (const Metric& metric : metric_table()) {
    CAPTURE(metric.info.id);
    CHECK(++ids[metric.info.id] == 1);
    CHECK_FALSE(metric.info.meaning.empty());
    CHECK(metric.info.meaning.find("{}") == std::string::npos);
    const int functions = (metric.of_rank != nullptr) + (metric.of_kind != nullptr) + (metric.of_run != nullptr) +
                          (metric.of_kind_of_run != nullptr);
    CHECK(functions == 1);
    CHECK(metric.kind.has_value() == (metric.of_kind != nullptr || metric.of_kind_of_run != nullptr));
  }
  CHECK(catalog().size() == metric_table().size());
  CHECK(catalog().size() == 8 + 8 * 16 + 25);
  CHECK(catalog().front().id == "gpu.utilization");
}
