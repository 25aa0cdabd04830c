#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "tests/differential/jobs.hpp"
#include "tests/differential/measured.hpp"
#include "tools/make_trace/simulate.hpp"

using namespace traceweir;
using namespace traceweir::differential;

namespace {

/// What a rank measures, without what nsys cannot know and without names that the formats spell differently.
struct Comparable {
  std::map<std::string, std::string> values;
  std::vector<std::string> devices, steps, kernels, phases;
  friend bool operator==(const Comparable&, const Comparable&) = default;
};

std::string text(Nanos time) { return std::to_string(time.count()); }

Comparable comparable(const metrics::RankMeasures& measures) {
  Comparable result;
  result.values = by_id(measures);
  std::erase_if(result.values, [](const auto& entry) { return needs_sizes(entry.first); });
  for (const auto& device : measures.devices)
    result.devices.push_back(std::to_string(device.device) + " " + text(device.compute) + " " +
                             text(device.exposed_comm) + " " + text(device.exposed_memory) + " " + text(device.idle));
  for (const auto& step : measures.steps) result.steps.push_back(std::to_string(step.index) + " " + text(step.length));
  for (const auto& kernel : measures.kernels)
    result.kernels.push_back(kernel.name + " " + std::to_string(kernel.count) + " " + text(kernel.total));
  for (const char* name : {"data_loading", "forward", "backward", "optimizer"})
    for (const auto& phase : measures.phases)
      if (phase.name == name)
        result.phases.push_back(phase.name + " " + std::to_string(phase.count) + " " + text(phase.host) + " " +
                                text(phase.gpu));
  return result;
}

void check_equal(const metrics::RankMeasures& one, const metrics::RankMeasures& other) {
  const Comparable a = comparable(one);
  const Comparable b = comparable(other);
  REQUIRE(a.values.size() == b.values.size());
  for (const auto& [metric, value] : a.values) {
    CAPTURE(metric);
    CHECK(value == b.values.at(metric));
  }
  CHECK(a.devices == b.devices);
  CHECK(a.steps == b.steps);
  CHECK(a.kernels == b.kernels);
  CHECK(a.phases == b.phases);
}

}  // namespace

// Why: after ingest nobody may see which format it was. Two readers, one truth.
TEST_CASE("formats: one job measures the same from Kineto, gzipped Kineto and nsys") {
  for (const NamedJob& row : named_jobs()) {
    CAPTURE(row.name);
    const auto trace = make_trace::simulate(row.job);
    const auto kineto = measured(trace, 0, Format::kineto);
    CHECK(comparable(kineto).phases.size() == 4);
    CHECK(!comparable(kineto).kernels.empty());
    check_equal(kineto, measured(trace, 0, Format::nsys));
    check_equal(kineto, measured(trace, 0, Format::kineto_gzip));
  }
}

// Why: equality proves nothing unless it sees the smallest difference.
TEST_CASE("formats: one nanosecond more in one kernel is seen from either format") {
  const auto trace = make_trace::simulate({});
  auto longer = trace;
  longer.ranks.front().work[200].end += 1;
  for (const Format format : formats)
    CHECK(comparable(measured(trace, 0, format)) != comparable(measured(longer, 0, format)));
}

// Why: what a format does not carry must be said, never 0.
TEST_CASE("formats: sizes of messages are measured from Kineto and `no_sizes` from nsys") {
  const auto trace = make_trace::simulate({});
  const auto kineto = measured(trace, 0, Format::kineto);
  auto nsys = by_id(measured(trace, 0, Format::nsys));
  CHECK(value_of(kineto, "allreduce.bytes_mean") == 4 * 39'321'600 / 6);
  CHECK(value_of(kineto, "allreduce.small_share") == 0);
  CHECK(value_of(kineto, "allreduce.busbw") > 40);
  for (const char* metric : {"allreduce.bytes_mean", "allreduce.small_share", "allreduce.busbw"}) {
    CAPTURE(metric);
    CHECK(nsys[metric] == "no_sizes");
  }
}

// Why: correlation ids are unique per process only; the ranks of one nsys file must not leak into each other.
TEST_CASE("formats: ranks in one nsys file measure as each in its own Kineto file") {
  make_trace::Job job;
  job.ranks = 3;
  job.noise_percent = 25;
  const auto trace = make_trace::simulate(job);
  const auto together = measured_together(trace);
  REQUIRE(together.size() == 3);
  for (std::size_t rank = 0; rank < together.size(); ++rank) {
    CAPTURE(rank);
    check_equal(together[rank], measured(trace, rank, Format::kineto));
  }
}

TEST_CASE("formats: any job measures the same from Kineto and nsys") {
  CHECK(rc::check("kineto = nsys", [] {
    const auto trace = make_trace::simulate(any_job());
    const auto rank = static_cast<std::size_t>(*rc::gen::inRange(0, trace.job.ranks));
    RC_ASSERT(comparable(measured(trace, rank, Format::kineto)) == comparable(measured(trace, rank, Format::nsys)));
  }));
}
