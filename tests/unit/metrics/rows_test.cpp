#include "analyzer/metrics/rows.hpp"

#include <doctest/doctest.h>

#include "tests/unit/metrics/scene.hpp"

using namespace traceweir;
using namespace traceweir::metrics;
using timeline::Collective;

namespace {

const PhaseRow& phase(const std::vector<PhaseRow>& rows, std::string_view name) {
  for (const PhaseRow& row : rows)
    if (row.name == name) return row;
  FAIL("no phase " << name);
  return rows.front();
}

}  // namespace

TEST_CASE("phase names: every run of digits is one N") {
  CHECK(phase_name("forward") == "forward");
  CHECK(phase_name("layer 12 of 48") == "layer N of N");
  CHECK(phase_name("007") == "N");
  CHECK(phase_name("").empty());
}

TEST_CASE("kernel rows: all of the window, by total") {
  Scene scene;
  scene.kernel(us(0, 10), "a").kernel(us(20, 50), "b").kernel(us(50, 70), "a").graph(us(70, 75));
  scene.collective(us(80, 100), Collective::other);
  scene.copy(us(0, 100), timeline::Direction::h2d);
  const timeline::Timeline timeline = scene.finish();
  const auto rows = kernel_rows(*view_of(timeline));
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].name == "a");
  CHECK(rows[0].count == 2);
  CHECK(rows[0].total == Nanos{30000});
  CHECK(rows[0].share == doctest::Approx(0.3));
  CHECK(rows[1].name == "b");
  CHECK(rows[2].kind == timeline::WorkKind::comm);
  CHECK(rows[3].kind == timeline::WorkKind::graph);
}

TEST_CASE("collective rows: by kind, size, group size and dtype, not by call") {
  Scene scene;
  const timeline::Message first{1024, 2, "Float", "0", 1};
  const timeline::Message second{1024, 2, "Float", "1", 2};
  const timeline::Message half{1024, 2, "Half", "0", 3};
  scene.collective(us(0, 10), Collective::allreduce, first).collective(us(10, 40), Collective::allreduce, second);
  scene.collective(us(50, 55), Collective::allreduce, half).collective(us(60, 62), Collective::sendrecv);
  const timeline::Timeline timeline = scene.finish();
  const auto rows = collective_rows(*view_of(timeline));
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].count == 2);
  CHECK(rows[0].total == Nanos{40000});
  CHECK(rows[0].min == Nanos{10000});
  CHECK(rows[0].max == Nanos{30000});
  CHECK(rows[0].bytes == 1024);
  CHECK(rows[0].group_size == 2);
  CHECK(rows[0].dtype == "Float");
  CHECK(rows[1].dtype == "Half");
  CHECK(rows[2].kind == Collective::sendrecv);
  CHECK(rows[2].bytes == 0);
}

TEST_CASE("phases: user ranges inside steps, with the work that they launched") {
  Scene scene = training(3, 100, 20);
  scene.range(us(10, 60), "forward").range(us(20, 40), "layer 1").range(us(40, 55), "layer 2");
  scene.launched_by(us(25, 26)).kernel(us(40, 50), "x");
  scene.launched_by(us(45, 46)).kernel(us(45, 60), "y");
  scene.range(us(190, 230), "tail");                                        // crosses into the next step
  scene.range(us(290, 400), "late");                                        // cut at 300
  scene.range(us(310, 320), "outside");                                     // starts outside of steps
  scene.range(us(110, 120), "aten::conv", timeline::RangeKind::step_only);  // an operator is no phase
  scene.on_thread(2).range(us(15, 30), "forward").launched_by(us(16, 17)).kernel(us(48, 70), "z");
  const timeline::Timeline timeline = scene.finish();
  const auto rows = phase_rows(*view_of(timeline));
  CHECK(rows.size() == 4);
  CHECK(phase(rows, "forward").count == 2);
  CHECK(phase(rows, "forward").host == Nanos{65000});  // 50 on one thread, 15 on the other
  CHECK(phase(rows, "forward").gpu == Nanos{30000});   // 40..70
  CHECK(phase(rows, "layer N").count == 2);
  CHECK(phase(rows, "layer N").host == Nanos{35000});
  CHECK(phase(rows, "layer N").gpu == Nanos{20000});  // 40..60
  CHECK(phase(rows, "tail").host == Nanos{40000});
  CHECK(phase(rows, "late").host == Nanos{10000});
}

TEST_CASE("phases: a phase inside itself counts its time once") {
  Scene scene = training(3, 100, 20);
  scene.range(us(10, 60), "block").range(us(20, 40), "block");
  const timeline::Timeline timeline = scene.finish();
  const auto rows = phase_rows(*view_of(timeline));
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].count == 2);
  CHECK(rows[0].host == Nanos{50000});
}

TEST_CASE("phases: none without marked steps") {
  const timeline::Timeline timeline = Scene().kernel(us(0, 10)).range(us(0, 10), "forward").finish();
  CHECK(phase_rows(*view_of(timeline)).empty());
}

// Why: a stranger's trace may nest ranges as deep as it likes; work times depth must not explode.
TEST_CASE("phases: hostile nesting stays linear") {
  Scene scene = training(3, 100000, 20);
  constexpr std::int64_t depth = 20000;
  for (std::int64_t i = 0; i < depth; ++i) scene.range(us(1 + i, 90000 - i), std::string(1, 'a') + (i % 2 ? "x" : "y"));
  for (std::int64_t i = 0; i < depth; ++i)
    scene.launched_by(us(depth + 5 + i, depth + 6 + i)).kernel(us(depth + 10 + i, depth + 12 + i));
  const timeline::Timeline timeline = scene.finish();
  const auto rows = phase_rows(*view_of(timeline));
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].count + rows[1].count == phase_depth_max);
}

// Why: names that differ in a number alone share what is stored of them; a glob of the caller's may still tell them
// apart.
TEST_CASE("steps: a glob that names numbers") {
  Scene scene;
  for (std::int64_t i = 0; i < 24; ++i) {
    scene.range(us(i * 100, i * 100 + 100), "iter " + std::to_string(i));
    scene.launched_by(us(i * 100 + 1, i * 100 + 2)).kernel(us(i * 100 + 10, i * 100 + 20));
  }
  const timeline::Timeline timeline = scene.finish();
  const auto steps_of = [&](const char* glob) {
    MeasureOptions options;
    options.steps = glob;
    return view_of(timeline, options);
  };
  const auto view = steps_of("iter 1?");
  REQUIRE(view.has_value());
  REQUIRE(view->steps.size() == 10);
  CHECK(timeline.name(view->steps.front().name) == "iter 10");
  CHECK(timeline.name(view->steps.back().name) == "iter 19");
  CHECK(steps_of("iter 7")->steps.size() == 1);
  CHECK(steps_of("iter*")->steps.size() == 24);
}

// Why: a step is no phase, not even the second time that it was written; its neighbour of another number is one.
TEST_CASE("phases: what has a step's times and another name is a phase") {
  Scene scene = training(3, 100, 20);
  scene.range(us(0, 100), "ProfilerStep#0").range(us(0, 100), "ProfilerStep#77").range(us(0, 100), "x");
  const timeline::Timeline timeline = scene.finish();
  const auto view = view_of(timeline);
  REQUIRE(view->steps.size() == 3);
  CHECK(timeline.name(view->steps.front().name) == "ProfilerStep#0");
  const auto rows = phase_rows(*view);
  REQUIRE(rows.size() == 2);
  CHECK(phase(rows, "x").count == 1);
  CHECK(phase(rows, "ProfilerStep#N").count == 1);
}
