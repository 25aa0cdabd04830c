#include "analyzer/metrics/named.hpp"

#include <doctest/doctest.h>

#include <string>

#include "analyzer/metrics/rows.hpp"
#include "analyzer/timeline/builder.hpp"
#include "tests/unit/metrics/scene.hpp"

using namespace traceweir;
using namespace traceweir::metrics;

// Why: ids are keys of policies and databases; whatever a trace names must become one, and never a pattern.
TEST_CASE("name_part: any text becomes a part of an id") {
  struct Row {
    std::string text, want;
  };
  const Row rows[] = {
      {"forward", "forward"},
      {"Optimizer.step#Adam.step", "optimizer.step_adam.step"},
      {"  ## Forward ## ", "forward"},
      {"SMs Active [Throughput %]", "sms_active_throughput_percent"},
      {"*", "unnamed"},
      {"", "unnamed"},
      {"\xC3\xA9tape", "tape"},
      {std::string(1000, 'x'), std::string(name_part_bytes_max, 'x')},
      {std::string(1000, '%'), std::string("percentpercentpercentpercentpercentpercentpercentpercentpercentp")},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(name_part(row.text) == row.want);
  }
}

TEST_CASE("family_member: ids of both families, and no others") {
  CHECK(family_member("phase.forward.share")->unit == Unit::ratio);
  CHECK(family_member("gpu_metrics.sm_active")->unit == Unit::count);
  for (const char* id : {"phase..share", "phase.share", "phase.forward", "gpu_metrics.", "gpu.idle", ""}) {
    CAPTURE(id);
    CHECK_FALSE(family_member(id).has_value());
  }
}

// Why: a trace may hold any number of phases; a report may not.
TEST_CASE("phase_shares: bounded, the rest together, no id twice") {
  Scene scene;
  for (int step = 0; step < 4; ++step) {
    const std::int64_t t = step * 10'000;
    scene.range(us(t, t + 10'000), "ProfilerStep#" + std::to_string(step));
    scene.launched_by(us(t, t + 1)).kernel(us(t + 1, t + 2));
    for (int i = 0; i < 50; ++i) {
      const std::string name = std::string(1, static_cast<char>('a' + i % 26)) + (i < 26 ? "" : "!b");
      scene.range(us(t + 10 + i * 100, t + 110 + i * 100), name);
    }
  }
  const timeline::Timeline timeline = scene.finish();
  const auto view = view_of(timeline);
  REQUIRE(view);
  const std::vector<Measurement> shares = phase_shares(*view, phase_rows(*view));
  REQUIRE(shares.size() == named_phases_max + 1);
  CHECK(shares.back().metric == "phase.rest.share");
  CHECK(as_double(*shares.back().value) == doctest::Approx((50 - 32) * 0.01));
  double sum = 0;
  for (const Measurement& share : shares) sum += as_double(*share.value);
  CHECK(sum == doctest::Approx(0.5));
}

// Why: a run's members are those of its ranks; one that a rank lacks has no mean.
TEST_CASE("named_of_run: means with extremes; what one rank lacks is not measured") {
  const auto measured = [](const char* id, double value) {
    return Measurement{id, value, Unit::ratio, Better::lower, std::nullopt};
  };
  std::vector<RankShare> ranks(2);
  ranks[0].rank = 3;
  ranks[1].rank = 5;
  ranks[0].measurements = {measured("phase.forward.share", 0.2), measured("phase.loss.share", 0.1)};
  ranks[1].measurements = {measured("phase.forward.share", 0.6), measured("gpu.idle", 0.5)};
  const std::vector<RunMeasurement> run = named_of_run(ranks);
  REQUIRE(run.size() == 2);
  CHECK(as_double(*run[0].mean.value) == doctest::Approx(0.4));
  CHECK(run[0].min_rank == 3);
  CHECK(run[0].max_rank == 5);
  CHECK(run[1].mean.metric == "phase.loss.share");
  CHECK(run[1].mean.not_measured == NotMeasured::no_such_table);
}

// Why: ten thousand samples a second for an hour would not fit; a thinned series keeps its mean.
TEST_CASE("counters: long series are thinned evenly") {
  timeline::TimelineBuilder builder;
  const auto device = builder.device(0);
  builder.add(timeline::WorkRow{.span = us(0, 10'000'000), .device = device, .name = builder.name("gemm")});
  const std::uint32_t counter = builder.counter("SM Active", device);
  const auto count = static_cast<std::int64_t>(timeline::samples_max) * 2 + 10;
  for (std::int64_t i = 0; i < count; ++i) builder.add({Nanos{i}, counter, static_cast<double>(i)});
  const timeline::Timeline timeline = std::move(builder).finish();
  REQUIRE(timeline.counters.size() == 1);
  CHECK(timeline.counters[0].samples.size() < timeline::samples_max);
  CHECK(timeline.counters[0].samples.size() > timeline::samples_max / 8);
  const auto view = view_of(timeline);
  REQUIRE(view);
  CHECK(as_double(*counter_means(*view).at(0).value) == doctest::Approx(static_cast<double>(count) / 2).epsilon(1e-3));
}
