#include "analyzer/timeline/builder.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <utility>

namespace tml = traceweir::timeline;
using traceweir::FindingCode;
using traceweir::Interval;
using traceweir::Nanos;

namespace {

Interval span(std::int64_t begin, std::int64_t end) { return {Nanos{begin}, Nanos{end}}; }

tml::WorkRow kernel(tml::TimelineBuilder& builder, Interval when, std::int64_t correlation = 0) {
  return {.span = when,
          .device = builder.device(0),
          .stream = 7,
          .correlation = correlation,
          .name = builder.name("kernel")};
}

std::int64_t count_of(const tml::Timeline& timeline, FindingCode code) {
  const auto found = timeline.oddities.find(code);
  return found == timeline.oddities.end() ? 0 : found->second.count;
}

}  // namespace

// Why: profilers repeat, reverse and zero rows; none of these may count as work, and each must be seen.
TEST_CASE("TimelineBuilder: rows that are no work are dropped and counted") {
  tml::TimelineBuilder builder;
  builder.add(kernel(builder, span(10, 20), 3));
  builder.add(kernel(builder, span(10, 20), 3));
  builder.add(kernel(builder, span(10, 20), 4));  // another launch: no duplicate
  builder.add(kernel(builder, span(30, 29)));
  builder.add(kernel(builder, span(0, 0)));
  builder.add(kernel(builder, span(5, 5)));  // short, not wrong
  const tml::Timeline timeline = std::move(builder).finish();
  REQUIRE(timeline.work.size() == 3);
  CHECK(timeline.work[0].begin == Nanos{5});
  CHECK(count_of(timeline, FindingCode::duplicate_events) == 1);
  CHECK(count_of(timeline, FindingCode::negative_duration) == 1);
  CHECK(count_of(timeline, FindingCode::zero_timestamps) == 1);
  CHECK(count_of(timeline, FindingCode::orphan_kernels) == 0);  // no calls were traced at all
}

// Why: a difference of two times is computed everywhere; it must not overflow for any file.
TEST_CASE("TimelineBuilder: times from the ends of the clock are dropped and counted") {
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  tml::TimelineBuilder builder;
  builder.add(kernel(builder, span(least, most)));
  builder.add(kernel(builder, span(0, most)));
  builder.add(kernel(builder, span(most, least)));
  builder.add(kernel(builder, span(1, 2)));
  builder.add(tml::CallRow{.span = span(least, 3), .thread = 1, .correlation = 9, .name = "cudaDeviceSynchronize"});
  builder.add(tml::RangeRow{.span = span(4, most), .thread = 1, .name = builder.range_name("step")});
  const tml::Timeline timeline = std::move(builder).finish();
  CHECK(timeline.work.size() == 1);
  CHECK(timeline.calls.empty());
  CHECK(timeline.ranges.empty());
  CHECK(count_of(timeline, FindingCode::invalid_text) == 4);
  CHECK(count_of(timeline, FindingCode::negative_duration) == 1);
}

// Why: nsys repeats calls under one correlation, and drops the calls that launched before the capture.
TEST_CASE("TimelineBuilder: work finds its launching call") {
  tml::TimelineBuilder builder;
  builder.has_host_calls = true;
  builder.add(kernel(builder, span(100, 200), 5));
  builder.add(kernel(builder, span(200, 300), 6));
  builder.add(kernel(builder, span(300, 400), 0));
  builder.add(tml::CallRow{.span = span(60, 70), .thread = 1, .correlation = 5, .name = "cudaLaunchKernel_v7000"});
  builder.add(tml::CallRow{.span = span(50, 55), .thread = 1, .correlation = 5, .name = "cuLaunchKernel"});
  builder.add(tml::CallRow{.span = span(50, 70), .thread = 1, .correlation = 5, .name = "cudaLaunchKernelExC_v11060"});
  builder.add(tml::CallRow{.span = span(10, 20), .thread = 2, .correlation = 0, .name = "cudaLaunchKernel_v7000"});
  builder.add(tml::CallRow{.span = span(10, 20), .thread = 2, .correlation = 77, .name = "cudaEventQuery_v3020"});
  builder.add(
      tml::CallRow{.span = span(80, 90), .thread = 2, .correlation = 78, .name = "cudaStreamSynchronize_v3020"});
  builder.add(tml::CallRow{.span = span(95, 96), .thread = 2, .correlation = 0, .name = "cudaMalloc_v3020"});
  const tml::Timeline timeline = std::move(builder).finish();
  REQUIRE(timeline.calls.size() == 3);
  REQUIRE(timeline.work[0].call == 0);
  CHECK(timeline.name(timeline.calls[0].name) == "cudaLaunchKernelExC");
  CHECK(timeline.calls[0].span() == span(50, 70));
  CHECK(timeline.calls[1].blocking);
  CHECK(timeline.calls[2].allocates);
  CHECK(timeline.work[1].call == tml::none);
  CHECK(timeline.work[2].call == tml::none);
  CHECK(count_of(timeline, FindingCode::orphan_kernels) == 2);
  CHECK(timeline.thread_count == 2);
}

// Why: a process that sees one GPU under two ordinals has one GPU.
TEST_CASE("TimelineBuilder: devices are merged by uuid, and only those with work are kept") {
  tml::TimelineBuilder builder;
  const auto third = builder.device(3, "GPU-b");
  CHECK(builder.device(3) == third);
  CHECK(builder.device(5, "GPU-b") == third);
  CHECK(builder.device(1, "GPU-a") != third);
  CHECK(builder.device(8) != builder.device(9));
  builder.set_gpu(builder.device(5), "NVIDIA H100\n");
  builder.set_gpu(builder.device(5), "");
  const auto name = builder.name("k");
  builder.add(tml::WorkRow{.span = span(1, 2), .device = builder.device(5), .name = name});
  builder.add(tml::WorkRow{.span = span(2, 3), .device = builder.device(1), .name = name});
  const tml::Timeline timeline = std::move(builder).finish();
  REQUIRE(timeline.devices.size() == 2);
  CHECK(timeline.devices[0].ordinal == 1);
  CHECK(timeline.devices[1].ordinal == 3);
  CHECK(timeline.devices[1].gpu == "NVIDIA H100\\x0a");
  CHECK(timeline.device(timeline.work[0].device).ordinal == 3);
}

// Why: a report holds devices by a number that others can read; a trace may say any.
TEST_CASE("TimelineBuilder: devices by a number that none has are dropped and counted") {
  tml::TimelineBuilder builder;
  const auto name = builder.name("k");
  for (const std::int64_t ordinal :
       {std::int64_t{1'000'000'000}, std::int64_t{1'000'000'001}, std::int64_t{-1'000'000'001},
        std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()})
    builder.add(tml::WorkRow{.span = span(1, 2), .device = builder.device(ordinal), .name = name});
  const tml::Timeline timeline = std::move(builder).finish();
  CHECK(timeline.work.size() == 1);
  CHECK(timeline.devices.size() == 1);
  CHECK(count_of(timeline, FindingCode::invalid_text) == 4);
}

// Why: a file can name as many devices as it has rows; indices are 16 bits.
TEST_CASE("TimelineBuilder: devices beyond any machine are dropped and counted") {
  tml::TimelineBuilder builder;
  const auto name = builder.name("k");
  for (std::int64_t ordinal = 0; ordinal < 70'000; ++ordinal)
    builder.add(tml::WorkRow{.span = span(1, 2), .device = builder.device(ordinal), .name = name});
  const tml::Timeline timeline = std::move(builder).finish();
  CHECK(timeline.work.size() == 4096);
  CHECK(timeline.devices.size() == 4096);
  CHECK(count_of(timeline, FindingCode::invalid_text) == 70'000 - 4096);
}

// Why: names come from strangers, are asked for once per row, and must be one name per text.
TEST_CASE("TimelineBuilder: names and messages are stored once, names cleaned") {
  tml::TimelineBuilder builder;
  const auto raw = builder.name("a\x1b[31m");
  CHECK(builder.name("a\x1b[31m") == raw);
  CHECK(builder.name("a\\x1b[31m") == raw);
  const tml::Message message{.bytes = 4, .group_size = 2, .dtype = "Float", .group = "0", .sequence = 1};
  CHECK(builder.message(message) == builder.message(message));
  CHECK(builder.message({.bytes = 4, .group_size = 2, .dtype = "Float", .group = "0", .sequence = {}}) == 1);
  builder.note(FindingCode::lost_events, "one");
  builder.note(FindingCode::lost_events, "two", 5);
  builder.note(FindingCode::lost_events, "");
  builder.note(FindingCode::lost_events, "three");
  builder.note(FindingCode::lost_events, "four");
  const tml::Timeline timeline = std::move(builder).finish();
  CHECK(timeline.name(raw) == "a\\x1b[31m");
  CHECK(timeline.names.size() == 1);
  CHECK(timeline.messages.size() == 2);
  const auto& lost = timeline.oddities.at(FindingCode::lost_events);
  CHECK(lost.count == 9);
  CHECK(lost.examples == std::vector<std::string>{"one", "two", "three"});
}

TEST_CASE("TimelineBuilder: ranges are sorted by thread, begin and the longest first") {
  tml::TimelineBuilder builder;
  const auto name = builder.range_name("step 1");
  builder.add(tml::RangeRow{.span = span(5, 6), .thread = 99, .name = name});
  builder.add(tml::RangeRow{.span = span(1, 2), .thread = 7, .name = name, .kind = tml::RangeKind::step_only});
  builder.add(tml::RangeRow{.span = span(1, 4), .thread = 7, .name = name});
  builder.add(tml::RangeRow{.span = span(0, 9), .thread = 99, .name = name});
  const tml::Timeline timeline = std::move(builder).finish();
  REQUIRE(timeline.ranges.size() == 4);
  CHECK(timeline.ranges[0].span() == span(0, 9));
  CHECK(timeline.ranges[1].span() == span(5, 6));
  CHECK(timeline.ranges[2].span() == span(1, 4));
  CHECK(timeline.ranges[3].kind == tml::RangeKind::step_only);
}

TEST_CASE("words of the timeline are read back") {
  for (const auto kind : tml::collectives) CHECK(tml::collective_of(tml::word(kind)) == kind);
  CHECK(tml::collective_of("all_reduce") == std::nullopt);
  for (const auto mode : {tml::GraphMode::none, tml::GraphMode::graph, tml::GraphMode::node, tml::GraphMode::mixed})
    CHECK(tml::graph_mode_of(tml::word(mode)) == mode);
  CHECK(tml::word(tml::Direction::h2d) == "h2d");
}

// Why: half of the calls of an export launch nothing and need not be collected; what is known of the work must leave
// the others as they are.
TEST_CASE("TimelineBuilder: calls that launched nothing are left out at once, with the same result") {
  const auto made = [](bool expecting) {
    tml::TimelineBuilder builder;
    builder.has_host_calls = true;
    for (int i = 0; i < 500; ++i) builder.add(kernel(builder, span(20 * i + 10, 20 * i + 15), 7 * i + 1));
    const tml::WorkRow later = kernel(builder, span(90'000, 90'010), 99'991);
    const std::int64_t expected[] = {99'991};
    if (expecting) builder.expect_calls_of(expected);
    for (int i = 0; i < 100'000; ++i)
      builder.add(tml::CallRow{.span = span(i, i + 1),
                               .thread = i % 3,
                               .correlation = i % 50'000,
                               .name = i % 10'000 == 9 ? "cudaDeviceSynchronize" : "cudaLaunchKernel"});
    builder.add(
        tml::CallRow{.span = span(80'000, 80'001), .thread = 1, .correlation = 99'991, .name = "cudaLaunchKernel"});
    builder.add(later);
    return std::move(builder).finish();
  };
  const tml::Timeline want = made(false);
  const tml::Timeline got = made(true);
  CHECK(want.calls.size() == 511);
  REQUIRE(got.calls.size() == want.calls.size());
  for (std::size_t i = 0; i < want.calls.size(); ++i) {
    REQUIRE(got.calls[i].span() == want.calls[i].span());
    REQUIRE(got.name(got.calls[i].name) == want.name(want.calls[i].name));
  }
  REQUIRE(got.work.size() == want.work.size());
  for (std::size_t i = 0; i < want.work.size(); ++i) REQUIRE(got.work[i].call == want.work[i].call);
  CHECK(count_of(got, FindingCode::orphan_kernels) == count_of(want, FindingCode::orphan_kernels));
}

// Why: a random test found it: of two calls at the very same time under one id, the row order chose the launching one.
TEST_CASE("TimelineBuilder: of two equal calls the one that launches is taken, whatever the order of the rows") {
  for (const bool allocation_first : {false, true}) {
    tml::TimelineBuilder builder;
    builder.add(kernel(builder, span(20, 30), 3));
    for (const bool allocation : {allocation_first, !allocation_first})
      builder.add(tml::CallRow{.span = span(3, 8),
                               .thread = 1,
                               .correlation = 3,
                               .name = allocation ? "cudaMalloc_v3020" : "cudaLaunchKernel_v7000"});
    const tml::Timeline timeline = std::move(builder).finish();
    REQUIRE(timeline.work[0].call != tml::none);
    CHECK(timeline.name(timeline.calls[timeline.work[0].call].name) == "cudaLaunchKernel");
    CHECK(timeline.calls.size() == 2);
  }
}
