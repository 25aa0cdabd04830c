// Pairs of runs of which one has one thing wrong: the first sentence of their comparison names it, whichever format
// they come in, and every explanation's contributions add up.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "analyzer/ingest/ingest.hpp"
#include "gate/diff.hpp"
#include "gate/explain.hpp"
#include "tests/differential/measured.hpp"
#include "tools/make_trace/simulate.hpp"
#include "tools/make_trace/write_kineto.hpp"
#include "tools/make_trace/write_nsys.hpp"

namespace traceweir::differential {
namespace {

using make_trace::Job;

/// A run of all its ranks: one nsys file, or one Kineto file per rank.
report::Report report_of(const Job& job, Format format) {
  const make_trace::Trace trace = make_trace::simulate(job);
  const TempFolder folder;
  std::vector<timeline::Timeline> timelines;
  const auto read = [&](const std::filesystem::path& file) {
    auto ranks = ingest::read_trace(file);
    REQUIRE_MESSAGE(ranks, ranks.error().message);
    for (timeline::Timeline& rank : *ranks) timelines.push_back(std::move(rank));
  };
  if (format == Format::nsys) {
    make_trace::write_nsys(trace, folder.path() / "trace.sqlite");
    read(folder.path() / "trace.sqlite");
  }
  for (const make_trace::Rank& rank : trace.ranks) {
    if (format == Format::nsys) break;
    const auto file = folder.path() / fmt::format("rank{}.json", rank.rank);
    make_trace::write_kineto(trace.job, rank, file);
    read(file);
  }
  const std::vector<report::TraceFacts> facts(timelines.size());
  auto report = report::report_of(timelines, facts);
  REQUIRE_MESSAGE(report, report.error().message);
  return *std::move(report);
}

/// One thing that is made worse, and what the first sentence must say of it.
struct Injection {
  const char* name;
  void (*into)(Job& job);
  std::vector<std::string> named;         ///< in both formats
  std::vector<std::string> named_kineto;  ///< where the format tells message sizes
};

const std::vector<Injection>& injections() {
  static const std::vector<Injection> all = {
      {"slower all-reduce",
       [](Job& job) { job.allreduce_factor = 3; },
       {"are exposed allreduce (the network takes"},
       {}},
      {"one slower kernel",
       [](Job& job) { job.slow_kernel_factor = 1.5; },
       {"are compute in flash_fwd_kernel (", "a call instead of"},
       {}},
      {"stalled loader",
       [](Job& job) { job.loader_stall = 5'000'000; },
       {"are idle time waiting for input in data_loading"},
       {}},
      {"added sync in each step",
       [](Job& job) { job.extra_syncs = 1; },
       {"idle time around blocking calls of the host", "2 synchronisations a step instead of 1"},
       {}},
      {"six syncs in each step",
       [](Job& job) { job.extra_syncs = 6; },
       {"idle time around blocking calls of the host", "7 synchronisations a step instead of 1"},
       {}},
      {"pageable copies",
       [](Job& job) { job.host_memory = make_trace::HostMemory::pageable; },
       {"are exposed h2d copies (100 % of the bytes from pageable memory instead of 0 %)"},
       {}},
      {"one slow rank",
       [](Job& job) { job.slow_rank = 1, job.slow_rank_factor = 1.3; },
       {"compute on rank 1", "exposed allreduce (waiting for rank 1, which takes"},
       {}},
      {"half the bucket size",
       [](Job& job) { job.buckets *= 2; },
       {"exposed allreduce (12 calls a step", "instead of 6"},
       {"12 calls a step of 12.5 MiB instead of 6 of 25 MiB"}},
      {"extra kernels", [](Job& job) { job.extra_kernels = 4; }, {"are compute in fused_dropout_kernel (new)"}, {}},
      {"more calls of a kernel",
       [](Job& job) { job.optimizer_kernels = 8; },
       {"are compute in multi_tensor_apply_kernel (8 calls a step instead of 4)"},
       {}},
      {"launch overhead",
       [](Job& job) { job.python_time = 600'000; },
       {"are idle time from launch overhead of the host"},
       {}},
  };
  return all;
}

/// The job with 1 % of noise, and noise of its own for every run.
Job noisy(std::uint64_t seed, int ranks) {
  Job job;
  job.noise_percent = 1;
  job.seed = seed;
  job.ranks = ranks;
  return job;
}

double tolerance(const Unit& unit) { return unit == Unit::ratio ? 1e-12 : 1; }

void check_sums(const gate::Diff& diff) {
  for (const gate::Explanation& explanation : diff.explanations) {
    CAPTURE(explanation.metric);
    double sum = 0, others = 0;
    for (const gate::Contribution& row : explanation.contributions) {
      sum += row.delta;
      if (row.cause == gate::Cause::other) others = row.delta;
    }
    CHECK(std::abs(sum - explanation.delta) <= tolerance(explanation.unit));
    CHECK(explanation.contributions.size() <= gate::contributions_max);
    // What is put together must be small, or the decomposition lacks something.
    CHECK(std::abs(others) <= std::max(0.2 * std::abs(explanation.delta), 1e-9 * std::abs(explanation.base)));
  }
}

}  // namespace

TEST_CASE("explain: the first sentence names what was made worse, in both formats") {
  std::uint64_t seed = 100;
  for (const int ranks : {2, 4})
    for (const Format format : {Format::kineto, Format::nsys}) {
      const report::Report base = report_of(noisy(++seed, ranks), format);
      for (const Injection& injection : injections()) {
        Job job = noisy(++seed, ranks);
        injection.into(job);
        const report::Report head = report_of(job, format);
        const gate::Diff diff = gate::diff_of(base, head);
        CAPTURE(injection.name);
        CAPTURE(ranks);
        CAPTURE(static_cast<int>(format));
        CAPTURE(diff.summary);
        for (const std::string& words : injection.named) CHECK(diff.summary.find(words) != std::string::npos);
        if (format == Format::kineto)
          for (const std::string& words : injection.named_kineto) CHECK(diff.summary.find(words) != std::string::npos);
        CHECK_FALSE(diff.workload_changed);
        check_sums(diff);
      }
    }
}

TEST_CASE("explain: the terms are the metrics, to the nanosecond, before anything is put together") {
  const report::Report report = report_of(noisy(7, 3), Format::nsys);
  const gate::RunSide side(report);
  double idle = 0, memory = 0, step = 0;
  for (const auto& [key, value] : *side.terms(gate::Per::window)) {
    if (gate::word(key.cause).starts_with("idle.")) idle += value;
    if (key.cause == gate::Cause::exposed_memory) memory += value;
  }
  for (const auto& [key, value] : *side.terms(gate::Per::step)) step += value;
  CHECK(std::abs(idle - side.value("gpu.idle").value()) < 1e-12);
  CHECK(std::abs(1 - idle - memory - side.value("gpu.utilization").value()) < 1e-12);
  CHECK(std::abs(step - side.value("step.time_mean").value()) < 1e-3);
  double mean = 0;
  for (const auto& [bytes, size] : side.sizes(timeline::Collective::allreduce)) mean += size.weight * size.time;
  CHECK(std::abs(mean - side.value("allreduce.time_mean").value()) < 1e-3);
}

TEST_CASE("explain: a slow rank is waited for, a slow network is not") {
  const report::Report base = report_of(noisy(11, 4), Format::kineto);
  const auto sentence_for = [&](void (*into)(Job&)) {
    Job job = noisy(12, 4);
    into(job);
    const report::Report head = report_of(job, Format::kineto);
    return gate::Explainer(base, head).explain("allreduce.time_mean").value().sentence;
  };
  const std::string slow_rank = sentence_for([](Job& job) { job.slow_rank = 2, job.slow_rank_factor = 1.4; });
  const std::string slow_network = sentence_for([](Job& job) { job.allreduce_factor = 3; });
  CAPTURE(slow_rank);
  CAPTURE(slow_network);
  CHECK(slow_rank.find("are waiting for rank 2, which takes") != std::string::npos);
  CHECK(slow_network.find("are transfer over the network (6 calls a step of 25 MiB)") != std::string::npos);
}

TEST_CASE("explain: two runs of one job differ by little, and nothing is blamed for it") {
  const report::Report base = report_of(noisy(21, 2), Format::nsys), head = report_of(noisy(22, 2), Format::nsys);
  const gate::Diff diff = gate::diff_of(base, head);
  CAPTURE(diff.summary);
  CHECK(diff.summary.find("did not change") != std::string::npos);
  CHECK_FALSE(diff.workload_changed);
  CHECK(diff.environment.empty());
}

}  // namespace traceweir::differential
