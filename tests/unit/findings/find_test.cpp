#include "analyzer/findings/find.hpp"

#include <algorithm>
#include <optional>

#include "analyzer/findings/finding_table.hpp"
#include "tests/unit/findings/ranks.hpp"

namespace traceweir::findings::test {
namespace {

using timeline::Collective;
using timeline::Timeline;

std::optional<Finding> found(const std::vector<Finding>& findings, FindingCode code) {
  const auto row = std::find_if(findings.begin(), findings.end(), [&](const Finding& f) { return f.code == code; });
  if (row == findings.end()) return std::nullopt;
  return *row;
}

/// The findings of a rank as the whole analyzer measures it.
std::vector<Finding> findings_of(const Timeline& timeline, const metrics::MeasureOptions& options = {}) {
  auto view = metrics::view_of(timeline, options);
  REQUIRE(view.has_value());
  return find(*view, metrics::measure(*view), attribute(*view));
}

std::optional<Severity> severity_of_finding(const std::vector<Finding>& findings, FindingCode code) {
  const auto finding = found(findings, code);
  if (!finding) return std::nullopt;
  return finding->severity;
}

void add_measured(metrics::RankMeasures& measures, const char* metric, double value) {
  measures.measurements.push_back({metric, Number{value}, Unit::ratio, Better::lower, std::nullopt});
}

}  // namespace

// Why: reports list findings in the order of the contract's words, and a code that had two rows would be judged twice.
TEST_CASE("finding_table: in the order of the codes, each once, each with advice") {
  std::optional<FindingCode> last;
  for (const FindingRow& row : finding_table()) {
    CAPTURE(word(row.code));
    if (last) CHECK(*last < row.code);
    last = row.code;
    CHECK(row.advice.size() > 20);
    CHECK(row.advice.back() == '.');
  }
}

// Why: severities decide whether a run can be judged at all.
TEST_CASE("oddities of a timeline become findings") {
  struct Row {
    FindingCode code;
    std::int64_t count;
    Severity want;
  };
  const Row rows[] = {
      {FindingCode::truncated, 1, Severity::data_loss},
      {FindingCode::lost_events, 3, Severity::data_loss},
      {FindingCode::zero_timestamps, 1, Severity::warning},     // 1 of 101
      {FindingCode::zero_timestamps, 50, Severity::data_loss},  // 50 of 150
      {FindingCode::duplicate_events, 2, Severity::warning},
      {FindingCode::negative_duration, 2, Severity::warning},
      {FindingCode::open_range, 2, Severity::info},
      {FindingCode::clock_base_missing, 1, Severity::info},
      {FindingCode::orphan_kernels, 2, Severity::info},
      {FindingCode::invalid_text, 2, Severity::info},
  };
  for (const Row& row : rows) {
    CAPTURE(word(row.code));
    Rank rank;
    for (int i = 0; i < 100; ++i) rank.kernel(ns(i * 10, i * 10 + 10), ns(i * 10 - 5, i * 10 - 4));
    rank.builder.note(row.code, "an example", row.count);
    const auto finding = found(findings_of(rank.done()), row.code);
    REQUIRE(finding.has_value());
    CHECK(finding->severity == row.want);
    CHECK(finding->count == row.count);
  }
}

TEST_CASE("a clean rank has no findings about its data but that of its steps") {
  Rank rank;
  for (int i = 0; i < 100; ++i) rank.kernel(ns(i * 10, i * 10 + 10), ns(i * 10 - 5, i * 10 - 4));
  const auto findings = findings_of(rank.done());
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].code == FindingCode::no_steps);
}

// Why: the limits are the contract's: under 10 whole steps is worth knowing, under 3 a warning.
TEST_CASE("no_steps and few_steps") {
  struct Row {
    int marked;
    std::optional<Severity> few;
  };
  // One of more than three marked steps is skipped, and n kept steps hold n - 1 whole periods.
  const Row rows[] = {{1, Severity::warning}, {3, Severity::warning}, {4, Severity::warning},
                      {5, Severity::info},    {11, Severity::info},   {12, std::nullopt}};
  for (const Row& row : rows) {
    CAPTURE(row.marked);
    Rank rank;
    for (int i = 0; i < row.marked; ++i) {
      const int t = i * 100;
      rank.range("ProfilerStep#" + std::to_string(i), ns(t, t + 100)).kernel(ns(t + 20, t + 90), ns(t + 10, t + 11));
    }
    const auto findings = findings_of(rank.done());
    CHECK(severity_of_finding(findings, FindingCode::few_steps) == row.few);
    CHECK_FALSE(found(findings, FindingCode::no_steps).has_value());
  }
}

// Why: a kernel that outlives its successor on the stream has a wrong duration; kernels that start early (programmatic
// dependent launch) or belong to one graph launch do overlap.
TEST_CASE("stream_overrun") {
  const auto severity = [](auto fill) {
    Rank rank;
    for (int i = 0; i < 200; ++i) rank.kernel(ns(i * 10'000, i * 10'000 + 9'000));
    fill(rank);
    return severity_of_finding(findings_of(rank.done()), FindingCode::stream_overrun);
  };
  CHECK(severity([](Rank&) {}) == std::nullopt);
  CHECK(severity([](Rank& r) { r.kernel(ns(5'000, 8'000), {}, 1, "late"); }) == Severity::warning);
  CHECK(severity([](Rank& r) {
          for (int i = 0; i < 5; ++i) r.kernel(ns(i * 10'000 + 5'000, i * 10'000 + 8'000), {}, 1, "late");
        }) == Severity::data_loss);
  CHECK(severity([](Rank& r) { r.kernel(ns(8'000, 9'500), {}, 1, "early"); }) == std::nullopt);
  CHECK(severity([](Rank& r) {
          r.kernel(ns(8'000, 9'500), {}, 1, "early");
          r.call("hipDeviceSynchronize", ns(0, 10));
        }) == Severity::warning);
  CHECK(severity([](Rank& r) {
          r.builder.add(timeline::CallRow{ns(0, 10), 1, 900, "cudaGraphLaunch"});
          for (int i = 0; i < 5; ++i) {
            timeline::WorkRow row{.span = ns(3'000'000 + i, 3'010'000 - i), .name = r.builder.name("node")};
            row.correlation = 900;
            row.stream = 7;
            r.work(row);
          }
        }) == std::nullopt);
}

// Why: rows of work that could not be read are missing in every ratio, as lost events are.
TEST_CASE("invalid_text: above 1 % of the work it is loss of data") {
  for (const std::int64_t lost : {1, 2}) {
    CAPTURE(lost);
    Rank rank;
    for (int i = 0; i < 99; ++i) rank.kernel(ns(i * 10, i * 10 + 10), ns(i * 10 - 5, i * 10 - 4));
    rank.builder.note(FindingCode::invalid_text, "mended", 50);
    rank.builder.drop_work("no time", lost);
    const auto finding = found(findings_of(rank.done()), FindingCode::invalid_text);
    REQUIRE(finding.has_value());
    CHECK(finding->severity == (lost == 1 ? Severity::info : Severity::data_loss));
    CHECK(finding->count == 50 + lost);
    CHECK(std::get<std::int64_t>(finding->evidence.at("lost_work_count")) == lost);
  }
}

TEST_CASE("mixed_gpus, unknown_collectives, graph_level_tracing") {
  Rank rank;
  rank.kernel(ns(0, 100));
  rank.builder.set_gpu(rank.builder.device(0), "NVIDIA H100");
  rank.device = 1;
  rank.work({.span = ns(0, 50), .name = rank.builder.name("ncclDevKernel_Generic"), .kind = timeline::WorkKind::comm});
  rank.builder.set_gpu(rank.builder.device(1), "NVIDIA A100");
  rank.work({.span = ns(60, 90),
             .name = rank.builder.name("graph"),
             .kind = timeline::WorkKind::graph,
             .source = timeline::WorkSource::graph_launch});
  const auto findings = findings_of(rank.done());
  REQUIRE(found(findings, FindingCode::mixed_gpus).has_value());
  CHECK(std::get<std::string>(found(findings, FindingCode::mixed_gpus)->evidence.at("example_2")) == "NVIDIA H100");
  REQUIRE(found(findings, FindingCode::unknown_collectives).has_value());
  CHECK(found(findings, FindingCode::unknown_collectives)->count == 1);
  CHECK(severity_of_finding(findings, FindingCode::graph_level_tracing) == Severity::warning);
}

// Why: each threshold is part of the contract; a row on either side of it shows that it is where it should be.
TEST_CASE("advice by thresholds") {
  using Measured = std::vector<std::pair<const char*, double>>;
  struct Row {
    FindingCode code;
    Measured measured;
    bool want;
  };
  // The rank below idles 800 of 1000 ns, all of it for input.
  const Row rows[] = {
      {FindingCode::exposed_allreduce, {{"allreduce.exposed_share", 0.101}}, true},
      {FindingCode::exposed_allreduce, {{"allreduce.exposed_share", 0.10}}, false},
      {FindingCode::exposed_allreduce, {}, false},
      {FindingCode::input_bound, {{"gpu.idle", 0.21}}, true},
      {FindingCode::input_bound, {{"gpu.idle", 0.20}}, false},
      {FindingCode::launch_bound, {{"gpu.idle", 0.9}, {"launch.kernel_p50", 2'000}}, false},
      {FindingCode::low_utilization, {{"gpu.utilization", 0.49}}, true},
      {FindingCode::low_utilization, {{"gpu.utilization", 0.50}}, false},
  };
  Rank rank;
  rank.kernel(ns(0, 100)).range("load", ns(100, 900)).kernel(ns(900, 1000), ns(900, 901));
  const Timeline timeline = rank.done();
  const metrics::RankView view = span_view(timeline);
  for (const Row& row : rows) {
    CAPTURE(word(row.code));
    CAPTURE(row.want);
    metrics::RankMeasures measures;
    for (const auto& [metric, value] : row.measured) add_measured(measures, metric, value);
    CHECK(found(find(view, measures, attribute(view)), row.code).has_value() == row.want);
  }
}

// Why: a rank whose time goes to copies or communication is not helped by the largest of its idle causes.
TEST_CASE("low_utilization: what covers more of the time than idle does is named") {
  struct Row {
    std::int64_t copy_end, comm_end;  // of 1000 ns; 100 are compute, what is left is idle
    std::vector<std::pair<std::string, double>> ratios;
    bool names_idle;
    const char* advice;
  };
  const Row rows[] = {
      {1'000, 1'000, {{"exposed_copies_ratio", 0.9}}, false, "90 % of the time is copies that no kernel hides;"},
      {100, 1'000, {{"exposed_comm_ratio", 0.9}}, false, "90 % of the time is communication that no kernel hides;"},
      {500, 900, {{"exposed_copies_ratio", 0.4}, {"exposed_comm_ratio", 0.4}}, false, "40 % of the time is copies"},
      {700, 720, {{"exposed_copies_ratio", 0.6}}, false, "60 % of the time is copies"},
      {300, 400, {}, true, "Kernels run for less than half of the time; the largest idle cause"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.copy_end);
    CAPTURE(row.comm_end);
    Rank rank;
    rank.kernel(ns(0, 50)).kernel(ns(50, 100));
    if (row.copy_end > 100)
      rank.work({.span = ns(100, row.copy_end),
                 .name = rank.builder.name("Memcpy HtoD"),
                 .kind = timeline::WorkKind::memory,
                 .source = timeline::WorkSource::memcpy,
                 .direction = timeline::Direction::h2d,
                 .bytes = 1});
    if (row.comm_end > row.copy_end)
      rank.work({.span = ns(row.copy_end, row.comm_end),
                 .name = rank.builder.name("ncclDevKernel_AllReduce_Sum_f32_RING_LL"),
                 .kind = timeline::WorkKind::comm});
    // A memset of no length ends the window at 1000 ns.
    rank.work({.span = ns(1'000, 1'000), .name = rank.builder.name("Memset"), .kind = timeline::WorkKind::memory});
    const Timeline timeline = rank.done();
    const metrics::RankView view = span_view(timeline);
    metrics::RankMeasures measures;
    add_measured(measures, "gpu.utilization", 0.1);
    const auto finding = found(find(view, measures, attribute(view)), FindingCode::low_utilization);
    REQUIRE(finding.has_value());
    for (const auto& [key, want] : row.ratios) {
      CAPTURE(key);
      REQUIRE(finding->evidence.contains(key));
      CHECK(std::get<double>(finding->evidence.at(key)) == doctest::Approx(want));
    }
    CHECK(finding->evidence.contains("largest_idle_cause") == row.names_idle);
    CHECK(finding->advice.starts_with(row.advice));
    CHECK(finding->evidence.size() == 1 + row.ratios.size() + (row.names_idle ? 2 : 0));
  }
}

// Why: without marked steps a sum over the window is no sum of a step.
TEST_CASE("pageable_copies: per step only where steps are marked") {
  for (const char* range : {"load", "ProfilerStep#"}) {
    CAPTURE(range);
    const bool marked = std::string(range) != "load";
    Rank rank;
    for (int i = 0; i < 4; ++i) {
      const int t = i * 1'000;
      rank.range(range + std::to_string(i), ns(t, t + 1'000)).kernel(ns(t + 100, t + 200), ns(t + 50, t + 60));
      rank.work({.span = ns(t + 300, t + 600),
                 .name = rank.builder.name("Memcpy HtoD"),
                 .kind = timeline::WorkKind::memory,
                 .source = timeline::WorkSource::memcpy,
                 .direction = timeline::Direction::h2d,
                 .host_memory = timeline::HostMemory::pageable,
                 .bytes = 2 << 20},
                ns(t + 70, t + 80));
    }
    const auto finding = found(findings_of(rank.done()), FindingCode::pageable_copies);
    REQUIRE(finding.has_value());
    CHECK(finding->evidence.contains("per_step_bytes") == marked);
    CHECK(finding->evidence.contains("window_bytes") != marked);
    CHECK((finding->advice.find("no steps are marked") != std::string::npos) != marked);
    if (!marked) CHECK(std::get<double>(finding->evidence.at("window_bytes")) == doctest::Approx(4 * (2 << 20)));
  }
}

TEST_CASE("launch_bound: idle for launches between short kernels") {
  Rank rank;
  for (int i = 0; i < 10; ++i)
    rank.kernel(ns(i * 10'000, i * 10'000 + 2'000), ns(i * 10'000 - 4'000, i * 10'000 - 1'000));
  const auto finding = found(findings_of(rank.done()), FindingCode::launch_bound);
  REQUIRE(finding.has_value());
  CHECK(as_double(Number{std::get<double>(finding->evidence.at("idle_ratio"))}) > 0.7);
  CHECK(std::get<double>(finding->evidence.at("kernel_p50_ns")) == doctest::Approx(2'000));
}

TEST_CASE("small_allreduces: by share of the sized calls") {
  Rank rank;
  rank.kernel(ns(0, 100));
  const Timeline timeline = rank.done();
  const metrics::RankView view = span_view(timeline);
  const auto row = [](std::int64_t bytes, std::int64_t count) {
    return metrics::CollectiveRow{Collective::allreduce, bytes, count, Nanos{10}, Nanos{1}, Nanos{2}, 2, "Float"};
  };
  const auto seen = [&](std::vector<metrics::CollectiveRow> rows) {
    metrics::RankMeasures measures;
    measures.collectives = std::move(rows);
    return found(find(view, measures, attribute(view)), FindingCode::small_allreduces).has_value();
  };
  CHECK(seen({row(2 << 20, 4), row(64 << 20, 6)}));
  CHECK_FALSE(seen({row(2 << 20, 3), row(64 << 20, 7)}));
  CHECK_FALSE(seen({row((2 << 20) + 1, 10)}));
  CHECK_FALSE(seen({row(0, 10)}));  // no size, no claim
}

TEST_CASE("sync_in_step, pageable_copies, serial_copies, many_small_copies, alloc_in_step, gap: from a whole rank") {
  constexpr std::int64_t us = 1'000;
  Rank rank;
  std::int64_t step_length = 1'000 * us;
  SUBCASE("milliseconds") {}
  SUBCASE("a second") { step_length = 1'000'000 * us; }
  for (int i = 0; i < 4; ++i) {
    const std::int64_t t = i * step_length;
    rank.range("ProfilerStep#" + std::to_string(i), ns(t, t + step_length));
    rank.call("cudaStreamSynchronize", ns(t + 250 * us, t + step_length - 5 * us));
    rank.call("cudaMalloc", ns(t + 220 * us, t + 221 * us));
    rank.kernel(ns(t + 100 * us, t + 200 * us), ns(t + 1 * us, t + 2 * us));
    for (int c = 0; c < 60; ++c) {
      const std::int64_t at = t + (300 + c) * us;
      rank.work({.span = ns(at, at + us / 2),
                 .name = rank.builder.name("Memcpy HtoD"),
                 .kind = timeline::WorkKind::memory,
                 .source = timeline::WorkSource::memcpy,
                 .direction = timeline::Direction::h2d,
                 .host_memory = timeline::HostMemory::pageable,
                 .bytes = 64 << 10},
                ns(t + 3 * us, t + 4 * us));
    }
  }
  const auto findings = findings_of(rank.done());
  for (const FindingCode code : {FindingCode::sync_in_step, FindingCode::pageable_copies,
                                 FindingCode::many_small_copies, FindingCode::alloc_in_step}) {
    CAPTURE(word(code));
    CHECK(found(findings, code).has_value());
  }
  const bool long_steps = step_length > 500'000 * us;
  CHECK(found(findings, FindingCode::gap).has_value() == long_steps);
  // 30 of 1000 us are exposed copies; of a second they are nothing.
  CHECK(found(findings, FindingCode::serial_copies).has_value() == !long_steps);
}

}  // namespace traceweir::findings::test
