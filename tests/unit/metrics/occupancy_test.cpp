#include "analyzer/metrics/occupancy.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <random>

#include "tests/unit/metrics/scene.hpp"

using namespace traceweir;
using namespace traceweir::metrics;
using timeline::Collective;
using timeline::Direction;

namespace {

RankMeasures measured_in(const timeline::Timeline& timeline, const char* window = "span") {
  const auto view = view_of(timeline, with_window({}, window).value());
  REQUIRE(view);
  return measure(*view);
}

double number(const RankMeasures& measures, std::string_view metric) {
  for (const Measurement& each : measures.measurements)
    if (each.metric == metric && each.value) return as_double(*each.value);
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

// Why: the example of metrics.md section 3 that everybody must reproduce.
TEST_CASE("the worked example: 5 ms of kernels, 15 ms nothing, 2 ms of copy, in whole periods") {
  Scene scene;
  for (std::int64_t i = 0; i < 5; ++i) {
    const std::int64_t t = i * 22000;
    scene.range(us(t, t + 22000), "ProfilerStep#" + std::to_string(i));
    scene.launched_by(us(t, t + 5)).kernel(us(t + 10, t + 5010));
    scene.launched_by(us(t + 20000, t + 20005)).copy(us(t + 20010, t + 22010), Direction::h2d, 1 << 20);
  }
  const timeline::Timeline timeline = scene.finish();
  const auto view = view_of(timeline);
  const RankMeasures measures = measure(*view);
  CHECK(measures.window->kind == WindowKind::steps);
  CHECK(measures.window->steps == 3);
  CHECK(number(measures, "gpu.utilization") == 5.0 / 22);
  CHECK(number(measures, "gpu.compute") == 5.0 / 22);
  CHECK(number(measures, "gpu.exposed_memory") == 2.0 / 22);
  CHECK(number(measures, "gpu.idle") == 15.0 / 22);
  CHECK(number(measures, "gpu.exposed_comm") == 0);
  CHECK(measures.devices.at(0).compute == Nanos{15000000});
  CHECK(measures.devices.at(0).exposed_memory == Nanos{6000000});
  CHECK(measures.devices.at(0).idle == Nanos{45000000});
  CHECK(said(measures, "step.time_p50") == "22000000.000000");
}

TEST_CASE("occupancy: overlap counts once, and each nanosecond once") {
  struct Row {
    const char* name;
    Scene scene;
    double utilization, compute, exposed_comm, exposed_memory, idle;
  };
  Row rows[] = {
      {"two streams overlap", std::move(Scene().kernel(us(0, 50)).kernel(us(25, 100))), 1, 1, 0, 0, 0},
      {"communication under compute",
       std::move(Scene().kernel(us(0, 60)).collective(us(40, 100), Collective::allreduce)), 1, 0.6, 0.4, 0, 0},
      {"copy under communication",
       std::move(Scene().collective(us(0, 60), Collective::other).copy(us(40, 100), Direction::d2h)), 0.6, 0, 0.6, 0.4,
       0},
      {"copies only", std::move(Scene().copy(us(0, 10), Direction::h2d).copy(us(90, 100), Direction::d2d)), 0, 0, 0,
       0.2, 0.8},
      {"a gap", std::move(Scene().kernel(us(0, 25)).kernel(us(75, 100))), 0.5, 0.5, 0, 0, 0.5},
  };
  for (Row& row : rows) {
    CAPTURE(row.name);
    const timeline::Timeline timeline = row.scene.finish();
    const RankMeasures measures = measured_in(timeline);
    CHECK(number(measures, "gpu.utilization") == doctest::Approx(row.utilization));
    CHECK(number(measures, "gpu.compute") == doctest::Approx(row.compute));
    CHECK(number(measures, "gpu.exposed_comm") == doctest::Approx(row.exposed_comm));
    CHECK(number(measures, "gpu.exposed_memory") == doctest::Approx(row.exposed_memory));
    CHECK(number(measures, "gpu.idle") == doctest::Approx(row.idle));
  }
}

// Why: a device that idles through the window of the others must not be averaged away, nor one that never works.
TEST_CASE("occupancy: the mean over the devices with work in the window") {
  Scene scene;
  scene.kernel(us(0, 100));
  scene.on_device(1).kernel(us(0, 50)).collective(us(50, 100), Collective::allreduce);
  scene.on_device(2).kernel(us(500, 510));
  const timeline::Timeline timeline = scene.finish();
  const RankMeasures measures = measured_in(timeline, "0:100000");
  REQUIRE(measures.devices.size() == 2);
  CHECK(number(measures, "gpu.compute") == doctest::Approx(0.75));
  CHECK(number(measures, "comm.share") == doctest::Approx(0.25));
  CHECK(number(measures, "comm.overlap") == 0);  // of the one device that communicates
  CHECK(said(measures, "allreduce.count") == "1");
}

TEST_CASE("occupancy: opaque graphs are busy, and hide what is inside") {
  const timeline::Timeline timeline =
      Scene().kernel(us(0, 20)).graph(us(10, 60)).copy(us(50, 100), Direction::h2d, 4096).finish();
  const RankMeasures measures = measured_in(timeline);
  CHECK(number(measures, "gpu.utilization") == doctest::Approx(0.6));
  CHECK(number(measures, "gpu.idle") == 0);
  CHECK(measures.devices.at(0).compute == Nanos{20000});
  CHECK(measures.devices.at(0).graph == Nanos{40000});
  for (const char* metric : {"gpu.compute", "gpu.exposed_comm", "gpu.exposed_memory", "comm.share", "comm.overlap",
                             "comm.exposed_per_step", "allreduce.time_mean", "allreduce.small_share", "other.count",
                             "memcpy.h2d_overlap", "launch.count_per_step", "launch.kernel_p50", "launch.delay_p50"}) {
    CAPTURE(metric);
    CHECK(said(measures, metric) == "graph_opaque");
  }
  CHECK(number(measures, "memcpy.h2d_share") == doctest::Approx(0.5));
}

TEST_CASE("occupancy: a range without work has a window and no devices") {
  const timeline::Timeline timeline = Scene().kernel(us(0, 20)).kernel(us(80, 100)).finish();
  const RankMeasures measures = measured_in(timeline, "30000:40000");
  CHECK(measures.window);
  CHECK(measures.devices.empty());
  CHECK(said(measures, "gpu.idle") == "no_gpu_work");
  CHECK(said(measures, "allreduce.count") == "no_gpu_work");
  CHECK(said(measures, "sync.share") == "0.000000");
}

// Why: the five parts are what explanations and gates add up; device_views asserts the identity on every device.
TEST_CASE("occupancy: the identity holds for any work") {
  std::mt19937_64 random(42);
  const auto below = [&random](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  for (int round = 0; round < 200; ++round) {
    Scene scene;
    for (int i = 0; i < 30; ++i) {
      const std::int64_t t = below(200);
      const Interval span = us(t, t + below(30));
      scene.on_device(below(2));
      switch (below(4)) {
        case 0:
          scene.kernel(span);
          break;
        case 1:
          scene.collective(span, Collective::allreduce);
          break;
        case 2:
          scene.copy(span, Direction::h2d);
          break;
        default:
          scene.graph(span);
      }
    }
    const timeline::Timeline timeline = scene.finish();
    const std::int64_t from = below(100) * 1000;
    const RankMeasures measures =
        measured_in(timeline, (std::to_string(from) + ":" + std::to_string(from + 50000)).c_str());
    for (const DeviceTimes& d : measures.devices)
      CHECK(d.compute + d.graph + d.exposed_comm + d.exposed_memory + d.idle == Nanos{50000});
  }
}
