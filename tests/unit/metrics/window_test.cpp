// Why: the window is the denominator of everything; metrics.md section 2 fixes it to the ns.
#include "analyzer/metrics/window.hpp"

#include <doctest/doctest.h>

#include <optional>

#include "tests/unit/metrics/scene.hpp"

using namespace traceweir;
using namespace traceweir::metrics;

namespace {

MeasureOptions asked(const char* window) { return with_window({}, window).value(); }

struct Want {
  const char* kind;
  Interval span;
  std::optional<std::int64_t> steps;
  std::int64_t skipped;
};

void check_window(const timeline::Timeline& timeline, const MeasureOptions& options, const Want& want) {
  const auto view = view_of(timeline, options);
  REQUIRE(view);
  REQUIRE(view->window);
  CHECK(word(view->window->kind) == want.kind);
  CHECK(view->window->span.begin.count() == want.span.begin.count());
  CHECK(view->window->span.end.count() == want.span.end.count());
  CHECK(view->window->steps == want.steps);
  CHECK(view->window->skipped_steps == want.skipped);
}

std::string refusal(const timeline::Timeline& timeline, const MeasureOptions& options) {
  const auto view = view_of(timeline, options);
  REQUIRE(!view);
  CHECK(view.error().code == ErrorCode::usage);
  return view.error().message;
}

}  // namespace

TEST_CASE("window: by rule, by number of marked steps") {
  struct Row {
    std::int64_t marked;
    Want want;
  };
  const Row rows[] = {
      {0, {"span", us(10, 40), std::nullopt, 0}},   // a lone kernel instead of steps
      {1, {"span", us(10, 30), std::nullopt, 0}},   //
      {2, {"span", us(10, 130), std::nullopt, 0}},  // two steps are no window
      {3, {"steps", us(10, 210), 2, 0}},            // three are kept: nothing is skipped
      {4, {"steps", us(110, 310), 2, 1}},           // more than three: the first is skipped
      {10, {"steps", us(110, 910), 8, 1}},          //
  };
  for (const Row& row : rows) {
    CAPTURE(row.marked);
    Scene scene = training(row.marked, 100, 20);
    if (row.marked == 0) scene.kernel(us(10, 40));
    check_window(scene.finish(), {}, row.want);
  }
}

TEST_CASE("window: what the caller asks for") {
  const timeline::Timeline timeline = training(5, 100, 20).finish();
  MeasureOptions two_skipped;
  two_skipped.skip_steps = 2;
  MeasureOptions three_skipped;
  three_skipped.skip_steps = 3;
  MeasureOptions none_skipped = asked("host_steps");
  none_skipped.skip_steps = 0;
  check_window(timeline, asked("span"), {"span", us(10, 430), std::nullopt, 0});
  check_window(timeline, asked("steps"), {"steps", us(110, 410), 3, 1});
  check_window(timeline, asked("host_steps"), {"host_steps", us(100, 500), 4, 1});
  check_window(timeline, none_skipped, {"host_steps", us(0, 500), 5, 0});
  check_window(timeline, asked("0:5000"), {"range", us(10, 15), std::nullopt, 0});
  check_window(timeline, asked("-10000:200000"), {"range", us(0, 210), std::nullopt, 0});
  check_window(timeline, two_skipped, {"steps", us(210, 410), 2, 2});
  check_window(timeline, three_skipped, {"span", us(10, 430), std::nullopt, 0});
}

TEST_CASE("window: what this trace does not have is refused by name") {
  const timeline::Timeline two = training(2, 100, 20).finish();
  CHECK(refusal(two, asked("steps")) ==
        "window steps: needs 3 kept steps, 2 of them with GPU work; this trace has 2 kept steps (0 skipped), "
        "2 of them with GPU work");
  const timeline::Timeline unmarked = Scene().kernel(us(0, 10)).finish();
  CHECK(refusal(unmarked, asked("host_steps")) == "window host_steps: no kept step (0 steps marked)");
  MeasureOptions negative;
  negative.skip_steps = -1;
  CHECK(refusal(two, negative) == "skip_steps: must not be negative");
}

TEST_CASE("window: words that are refused") {
  for (const char* text : {"", "step", "range", "1", "1:", ":2", "a:b", "2:2", "3:1", "1:2:3", "1 :2", "1.5:2",
                           "99999999999999999999:1", " steps"}) {
    CAPTURE(text);
    const auto options = with_window({}, text);
    REQUIRE(!options);
    CHECK(options.error().code == ErrorCode::usage);
  }
}

TEST_CASE("window: a step without GPU work counts, but cannot begin or end it") {
  Scene scene;
  // Steps 0..5 of 100 us; 1, 3 and 5 launch nothing. More than three are marked, so 0 is skipped.
  for (std::int64_t i = 0; i < 6; ++i) {
    scene.range(us(i * 100, i * 100 + 100), "ProfilerStep#" + std::to_string(i));
    if (i % 2 == 0) scene.launched_by(us(i * 100, i * 100 + 5)).kernel(us(i * 100 + 10, i * 100 + 30));
  }
  const timeline::Timeline timeline = scene.finish();
  check_window(timeline, {}, {"steps", us(210, 410), 2, 1});
  const auto view = view_of(timeline);
  CHECK(said(measure(*view), "step.time_p50") == "no_steps");  // no two neighbours have work
  CHECK(said(measure(*view), "step.time_mean") == "100000.000000");
}

TEST_CASE("window: work belongs to the step in which its call starts, on any thread") {
  Scene scene = training(4, 100, 20);
  // Launched late in step 0 by another thread, runs in step 1's time: it must not begin step 1.
  scene.on_thread(2).launched_by(us(95, 120)).kernel(us(105, 108), "late");
  const timeline::Timeline timeline = scene.finish();
  check_window(timeline, {}, {"steps", us(110, 310), 2, 1});
}

TEST_CASE("window: of matching ranges nested on one thread only the outer is a step") {
  Scene scene = training(4, 100, 20);
  for (std::int64_t i = 0; i < 4; ++i) scene.range(us(i * 100 + 1, i * 100 + 50), "ProfilerStep#9");
  const timeline::Timeline nested = scene.finish();
  CHECK(view_of(nested)->steps.size() == 4);
  Scene other_thread = training(4, 100, 20);
  other_thread.on_thread(2).range(us(1, 50), "ProfilerStep#9");
  const timeline::Timeline timeline = other_thread.finish();
  CHECK(view_of(timeline)->steps.size() == 5);
}

TEST_CASE("window: a trace without GPU work has none, whatever is asked") {
  const timeline::Timeline timeline = Scene().range(us(0, 10), "ProfilerStep#1").finish();
  for (const char* text : {"steps", "span", "host_steps", "0:5"}) {
    const auto view = view_of(timeline, asked(text));
    REQUIRE(view);
    CHECK_FALSE(view->window);
    for (const Measurement& each : measure(*view).measurements) CHECK(each.not_measured == NotMeasured::no_gpu_work);
  }
}

// Why: traces may hold any time that the builder accepts (2^62 ns either way); lengths must neither wrap nor crash.
TEST_CASE("window: extreme times") {
  constexpr Nanos high{(std::int64_t{1} << 62) - 1};
  constexpr Nanos low = -high;
  Scene wide;
  wide.range({low, low + Nanos{9}}, "ProfilerStep#1").range({high - Nanos{9}, high}, "ProfilerStep#2");
  wide.launched_by({low, low + Nanos{1}}).kernel({low, low + Nanos{5}}).launched_by({low, high}).kernel({low, high});
  wide.call({low, high}, "cudaDeviceSynchronize").copy({high - Nanos{5}, high}, timeline::Direction::h2d, 8);
  const timeline::Timeline timeline = wide.finish();
  check_window(timeline, {}, {"span", {low, high}, std::nullopt, 0});
  check_window(timeline, asked("host_steps"), {"host_steps", {low, high}, 2, 0});
  CHECK(said(measure(*view_of(timeline)), "sync.share") == "1.000000");
  CHECK(refusal(timeline, asked("-9000000000000000000:9")) == "window START:END: too far from the first GPU work");

  const timeline::Timeline instant = Scene().kernel({high, high}).finish();
  CHECK(view_of(instant)->window->span.length() == Nanos{1});
}
