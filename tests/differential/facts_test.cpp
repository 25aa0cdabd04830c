#include "tools/make_trace/facts.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "tests/differential/jobs.hpp"
#include "tests/differential/measured.hpp"
#include "tools/make_trace/simulate.hpp"

using namespace traceweir;
using namespace traceweir::differential;

namespace {

/// The first of the generator's facts that `measures` does not agree with; empty: all agree.
std::string disagreement(const metrics::RankMeasures& measures, const make_trace::Facts& facts) {
  const auto differs = [](const char* what, auto got, auto want) {
    return got == want ? std::string()
                       : std::string(what) + ": " + std::to_string(got) + ", not " + std::to_string(want);
  };
  if (!measures.window || measures.devices.size() != 1) return "no window, or not one device";
  const metrics::Window& window = *measures.window;
  const metrics::DeviceTimes& times = measures.devices.front();
  const std::string found[] = {
      differs("window", window.span.length().count(), facts.window),
      differs("steps", window.steps.value_or(0), std::int64_t{facts.steps}),
      differs("compute", times.compute.count(), facts.compute),
      differs("graph", times.graph.count(), std::int64_t{0}),
      differs("exposed comm", times.exposed_comm.count(), facts.exposed_comm),
      differs("exposed memory", times.exposed_memory.count(), facts.exposed_memory),
      differs("idle", times.idle.count(), facts.idle),
  };
  if (word(window.kind) != facts.window_kind) return "window kind: not " + facts.window_kind;
  for (const std::string& one : found)
    if (!one.empty()) return one;
  return {};
}

double ratio(std::int64_t part, std::int64_t whole) { return static_cast<double>(part) / static_cast<double>(whole); }

}  // namespace

// Why: the generator counts with code of its own, so a shared mistake in the analyzer's interval arithmetic shows here.
TEST_CASE("facts: times to the nanosecond, from every format") {
  for (const NamedJob& row : named_jobs()) {
    CAPTURE(row.name);
    const auto trace = make_trace::simulate(row.job);
    for (const Format format : formats)
      CHECK(disagreement(measured(trace, 0, format), make_trace::facts_of(trace.ranks.front())) == "");
  }
}

TEST_CASE("facts: ratios, counts, bytes and means") {
  for (const NamedJob& row : named_jobs()) {
    CAPTURE(row.name);
    const auto trace = make_trace::simulate(row.job);
    const make_trace::Facts facts = make_trace::facts_of(trace.ranks.front());
    const auto measures = measured(trace, 0, Format::kineto);
    struct Want {
      const char* metric;
      double value;
    };
    const Want wants[] = {
        {"gpu.utilization", ratio(facts.compute + facts.exposed_comm, facts.window)},
        {"gpu.compute", ratio(facts.compute, facts.window)},
        {"gpu.exposed_comm", ratio(facts.exposed_comm, facts.window)},
        {"gpu.exposed_memory", ratio(facts.exposed_memory, facts.window)},
        {"gpu.idle", ratio(facts.idle, facts.window)},
        {"comm.share", ratio(facts.comm, facts.window)},
        {"comm.overlap", ratio(facts.comm_overlap, facts.comm)},
        {"allreduce.count", static_cast<double>(facts.allreduces)},
        {"allreduce.time_total", static_cast<double>(facts.allreduce_total)},
        {"allreduce.time_mean", ratio(facts.allreduce_total, facts.allreduces)},
        {"allreduce.time_max", static_cast<double>(facts.allreduce_max)},
        {"memcpy.h2d_share", ratio(facts.h2d, facts.window)},
        {"memcpy.pageable_share", ratio(facts.pageable_bytes, facts.h2d_bytes + facts.d2h_bytes)},
        {"sync.share", ratio(facts.sync, facts.window)},
    };
    for (const Want& want : wants) {
      CAPTURE(want.metric);
      CHECK(value_of(measures, want.metric) == doctest::Approx(want.value).epsilon(1e-12));
    }
    if (facts.steps == 0) continue;  // a span has no steps to divide by
    const Want per_step[] = {
        {"launch.count_per_step", ratio(facts.kernels, facts.steps)},
        {"allreduce.count_per_step", ratio(facts.allreduces, facts.steps)},
        {"memcpy.h2d_bytes_per_step", ratio(facts.h2d_bytes, facts.steps)},
        {"memcpy.d2h_bytes_per_step", ratio(facts.d2h_bytes, facts.steps)},
        {"sync.count_per_step", ratio(facts.syncs, facts.steps)},
        {"sync.time_per_step", ratio(facts.sync, facts.steps)},
        {"step.time_mean", ratio(facts.window, facts.steps)},
    };
    for (const Want& want : per_step) {
      CAPTURE(want.metric);
      CHECK(value_of(measures, want.metric) == doctest::Approx(want.value).epsilon(1e-12));
    }
  }
}

TEST_CASE("facts: the worked example of docs/metrics.md is exact in every format") {
  const auto trace = make_trace::worked_example(12);
  const make_trace::Facts facts = make_trace::facts_of(trace.ranks.front());
  CHECK(facts.window == 220'000'000);
  for (const Format format : formats) {
    const auto measures = measured(trace, 0, format);
    CHECK(disagreement(measures, facts) == "");
    CHECK(value_of(measures, "gpu.utilization") == 5.0 / 22);
    CHECK(value_of(measures, "gpu.exposed_memory") == 2.0 / 22);
    CHECK(value_of(measures, "gpu.idle") == 15.0 / 22);
  }
}

TEST_CASE("facts: any job, any rank, any format") {
  CHECK(rc::check("measured = counted", [] {
    const auto trace = make_trace::simulate(any_job());
    const auto rank = static_cast<std::size_t>(*rc::gen::inRange(0, trace.job.ranks));
    const Format format = *rc::gen::elementOf(std::vector<Format>(std::begin(formats), std::end(formats)));
    const std::string found = disagreement(measured(trace, rank, format), make_trace::facts_of(trace.ranks[rank]));
    if (!found.empty()) RC_FAIL(found);
  }));
}
