// Waiting times while the wall clock is set.
#include "server/app/waiting_times.hpp"

#include <doctest/doctest.h>

using namespace traceweir;
using namespace std::chrono_literals;

namespace {

/// Both clocks; the wall clock can be set.
struct Clocks {
  store::Timestamp wall{1'790'000'000s};
  app::WaitingTimes::Steady steady{1h};
  void pass(std::chrono::seconds time) {
    wall += time;
    steady += time;
  }
};

}  // namespace

TEST_CASE("waiting times: the first look believes the wall clock, as far as that can be") {
  Clocks clocks;
  app::WaitingTimes times;
  times.look(clocks.wall, clocks.steady);
  CHECK(times.of("old", clocks.wall - 3h) == 3h);     // of an earlier life
  CHECK(times.of("early", clocks.wall + 24h) == 0h);  // a clock that was ahead
  clocks.pass(30s);
  times.look(clocks.wall, clocks.steady);
  CHECK(times.of("old", clocks.wall - 3h) == 3h + 30s);
  CHECK(times.of("early", clocks.wall + 24h) == 30s);
}

TEST_CASE("waiting times: setting the clock changes none") {
  for (const auto step : {24h, -24h}) {
    CAPTURE(step.count());
    Clocks clocks;
    app::WaitingTimes times;
    times.look(clocks.wall, clocks.steady);
    const store::Timestamp since = clocks.wall;
    CHECK(times.of("a", since) == 0s);
    clocks.wall += step;
    const store::Timestamp later = clocks.wall;
    for (int looks = 1; looks <= 3; ++looks) {
      clocks.pass(30s);
      times.look(clocks.wall, clocks.steady);
      CHECK(times.of("a", since) == looks * 30s);
      CHECK(times.of("b", later) == looks * 30s);  // came after the step
    }
  }
}

TEST_CASE("waiting times: what comes between two looks has waited no longer than the time between them") {
  Clocks clocks;
  app::WaitingTimes times;
  times.look(clocks.wall, clocks.steady);
  clocks.pass(10s);
  const store::Timestamp since = clocks.wall;
  clocks.wall += 24h;
  clocks.pass(20s);
  times.look(clocks.wall, clocks.steady);
  CHECK(times.of("a", since) == 30s);
}

TEST_CASE("waiting times: what is not asked for is forgotten") {
  Clocks clocks;
  app::WaitingTimes times;
  times.look(clocks.wall, clocks.steady);
  times.of("a", clocks.wall - 1h);
  for (int looks = 0; looks < 2; ++looks) {
    clocks.pass(30s);
    times.look(clocks.wall, clocks.steady);
  }
  CHECK(times.of("a", clocks.wall - 1h) == 30s);
}
