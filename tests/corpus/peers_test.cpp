// Numbers that other tools print or assert for these files, reproduced from our timelines; where a definition differs,
// with theirs applied to our rows. Why: people compare tools; docs/formats/compared.md explains every difference.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analyzer/findings/find.hpp"
#include "analyzer/metrics/collectives.hpp"
#include "analyzer/metrics/named.hpp"
#include "analyzer/report/report.hpp"
#include "tests/corpus/oracle.hpp"

using namespace traceweir;
using nlohmann::json;
using timeline::IntervalSet;
using timeline::Timeline;
using timeline::Work;
using timeline::WorkKind;
using timeline::WorkSource;

namespace {

const Timeline& rank_of(const std::string& file) {
  const auto& timelines = corpus::timelines_of(file);
  REQUIRE_MESSAGE(timelines, file << ": " << timelines.error().message);
  return timelines->front();
}

/// The union of the work that `wanted` picks, all devices together.
template <typename Wanted>
IntervalSet union_of(const Timeline& timeline, Wanted wanted) {
  std::vector<Interval> spans;
  for (const Work& work : timeline.work)
    if (wanted(work)) spans.push_back(work.span());
  return IntervalSet::union_of(std::move(spans));
}

double us_of(const IntervalSet& set) { return static_cast<double>(set.total().count()) / 1000; }
double us_of(Nanos length) { return static_cast<double>(length.count()) / 1000; }

Interval hull(const IntervalSet& set) { return {set.parts().front().begin, set.parts().back().end}; }

/// TraceLens' timeline of the work that `linked` picks. Memsets are computation there, and so are the all-reduces over
/// symmetric memory, whose names it does not know. Units: µs.
template <typename Linked>
std::map<std::string, double> tracelens_timeline(const Timeline& timeline, Linked linked) {
  const auto is_comm = [&](const Work& work) {
    return work.kind == WorkKind::comm && work.source == WorkSource::kernel &&
           timeline.name(work.name).find("multimem") == std::string::npos;
  };
  const auto is_copy = [](const Work& work) { return work.source == WorkSource::memcpy; };
  const IntervalSet all = union_of(timeline, linked);
  const IntervalSet comm = union_of(timeline, [&](const Work& w) { return linked(w) && is_comm(w); });
  const IntervalSet copies = union_of(timeline, [&](const Work& w) { return linked(w) && is_copy(w); });
  const IntervalSet compute =
      union_of(timeline, [&](const Work& w) { return linked(w) && !is_comm(w) && !is_copy(w); });
  return {{"computation_time", us_of(compute)},
          {"exposed_comm_time", us_of(comm.without(compute))},
          {"exposed_memcpy_time", us_of(copies.without(compute).without(comm))},
          {"busy_time", us_of(all)},
          {"idle_time", us_of(all.gaps_in(hull(all)))},
          {"total_time", us_of(hull(all).length())},
          {"total_comm_time", us_of(comm)},
          {"total_memcpy_time", us_of(copies)}};
}

bool any_work(const Work&) { return true; }
bool launched_here(const Work& work) { return work.call != timeline::none; }

metrics::RankView span_view(const Timeline& timeline) {
  auto view = metrics::view_of(timeline, metrics::with_window({}, "span").value());
  REQUIRE(view);
  return *std::move(view);
}

}  // namespace

TEST_CASE("peers: TraceLens' timelines, as it computes them from all GPU rows") {
  const auto vectors = corpus::vectors("analyzer-tracelens-computed.json");
  if (!vectors) return;
  int compared = 0;
  for (const json& row : (*vectors)["vectors"]) {
    const std::string file = row["file"];
    CAPTURE(file);
    if (!row.contains("expected_us")) continue;
    const auto& timelines = corpus::timelines_of(file);
    REQUIRE(timelines);
    if (timelines->front().work.empty()) continue;
    const auto ours = tracelens_timeline(timelines->front(), any_work);
    // It holds times as doubles of µs. Those of this file are 1.7e15, where a double steps by 0.25 µs: the errors of
    // its thousands of rows add up to 22 µs.
    const double tolerance_us = file.find("ns_resolution") != std::string::npos ? 25 : 1.5;
    for (const auto& [key, want] : row["expected_us"].items()) {
      CAPTURE(key);
      ++compared;
      CHECK(std::abs(ours.at(key) - want.get<double>()) <= tolerance_us);
    }
  }
  MESSAGE("TraceLens, computed: " << compared << " values");
  CHECK(compared > 100);
}

TEST_CASE("peers: TraceLens' asserted timelines, of the rows that link to the host's calls") {
  const auto vectors = corpus::vectors("analyzer-tracelens-asserted.json");
  if (!vectors) return;
  for (const json& row : (*vectors)["gpu_timeline"]) {
    const std::string file = row["file"];
    CAPTURE(file);
    const auto ours = tracelens_timeline(rank_of(file), launched_here);
    for (const auto& [key, want] : row["expected"].items()) {
      CAPTURE(key);
      CHECK(ours.at(key) / 1000 == doctest::Approx(want["ms"].get<double>()).epsilon(1e-5));
    }
  }
  for (const auto& [name, report] : (*vectors)["collective_reports"].items()) {
    const metrics::RankView view = span_view(rank_of(report["file"]));
    const auto rows = metrics::measure(view).collectives;
    for (const json& want : report["rows"]) {
      const auto count = std::stoll(want["operation_count"].get<std::string>());
      const double total_us = std::stod(want["dur_sum"].get<std::string>());
      CAPTURE(total_us);
      const auto same = std::find_if(rows.begin(), rows.end(), [&](const metrics::CollectiveRow& row) {
        return word(row.kind) == want["Collective name"] && row.dtype == want["dtype"] &&
               std::abs(us_of(row.total) - total_us) < 0.01;
      });
      REQUIRE(same != rows.end());
      CHECK(same->count == count);
      CHECK(us_of(same->min) == doctest::Approx(std::stod(want["dur_min"].get<std::string>())));
      CHECK(us_of(same->max) == doctest::Approx(std::stod(want["dur_max"].get<std::string>())));
      CHECK(same->group_size == 8);
    }
  }
}

// HTA keeps GPU rows that have a launching call, drops the last step, merges devices and streams, and counts memsets
// and copies as "non-compute".
TEST_CASE("peers: HTA's exact-nanosecond breakdown") {
  const auto vectors = corpus::vectors("analyzer-hta-computed.json");
  if (!vectors) return;
  int compared = 0;
  for (const json& row : (*vectors)["vectors"]) {
    const std::string file = row["file"];
    CAPTURE(file);
    const json& exact = row.value("ns_exact", json::object()).value("include_last", json::object());
    const auto& timelines = corpus::timelines_of(file);
    if (!timelines || !exact.contains("temporal_breakdown") || timelines->size() != 1) continue;
    const Timeline& timeline = timelines->front();
    if (!timeline.has_host_calls || timeline.work.empty()) continue;
    // Rows of cuda_sync and other accelerators count as work there (alexnet, cuda_event_sync, triton_example, MTIA);
    // compute alone does not depend on them, where custom all-reduces do not take part.
    const bool custom = file.find("b200") != std::string::npos || file.find("triton") != std::string::npos;
    if (custom) continue;
    // With one step or none HTA keeps every row; with more those that have a launching call.
    const bool all = exact["profiler_steps"].size() <= 1;
    const IntervalSet compute =
        union_of(timeline, [&](const Work& w) { return (all || launched_here(w)) && w.kind == WorkKind::compute; });
    const double want = exact["temporal_breakdown"][0]["compute_time(us)"];
    ++compared;
    INFO("HTA " << want << " ours " << us_of(compute));
    CHECK(std::abs(us_of(compute) - want) <= 1.5);
  }
  MESSAGE("HTA, exact: " << compared << " values");
  CHECK(compared >= 5);
}

TEST_CASE("peers: what HTA's own tests assert") {
  if (!corpus::vectors("analyzer-hta-asserted.json")) return;
  // Rows of MTIA, counters of the profiler and hosts without a GPU are no GPU work: nothing is measured, nothing fails.
  for (const char* file :
       {"kineto/hta_mtia_rank0.json.gz", "kineto/hta_cupti_profiler.json.gz", "kineto/hta_rank_non_gpu.json.gz"}) {
    CAPTURE(file);
    const auto view = metrics::view_of(rank_of(file));
    REQUIRE(view);
    CHECK_FALSE(view->window.has_value());
  }
  const Timeline& nccl = rank_of("kineto/nccl_data.json.gz");
  const auto is_nccl = [&](const Work& w) { return nccl.name(w.name).find("nccl") != std::string::npos; };
  CHECK(std::count_if(nccl.work.begin(), nccl.work.end(), is_nccl) == 21);
  // HTA's first is an all-reduce of 2,049,000 floats; in time a broadcast comes first.
  const auto reduces = [&](const Work& w) {
    return w.message != timeline::none && word(w.collective) == "allreduce" &&
           nccl.messages[w.message].bytes == 2049000 * 4;
  };
  CHECK(std::any_of(nccl.work.begin(), nccl.work.end(), reduces));

  const Timeline& steps = rank_of("kineto/hta_ns_resolution.pt.trace.json.gz");
  const auto view = metrics::view_of(steps);
  REQUIRE(view);
  REQUIRE(view->steps.size() > 1);
  const Nanos last_step = view->steps.back().host.begin;
  const auto kept = std::count_if(steps.work.begin(), steps.work.end(), [&](const Work& w) {
    return launched_here(w) && steps.calls[w.call].begin < last_step;
  });
  CHECK(kept == 4876);
  std::int64_t in_optimizer = 0, seen_on_gpu = 0;
  for (const Work& w : steps.work) {
    if (!launched_here(w) || steps.calls[w.call].begin >= last_step) continue;
    const timeline::Call& call = steps.calls[w.call];
    const bool inside = std::any_of(steps.ranges.begin(), steps.ranges.end(), [&](const timeline::Range& range) {
      return range.thread == call.thread && range.span().contains(call.begin) &&
             steps.name(range.name) == "Optimizer.step#SGD.step";
    });
    in_optimizer += inside ? 1 : 0;
    seen_on_gpu += inside && w.begin < last_step ? 1 : 0;
  }
  // Four optimizer steps of nine kernels are launched before the last step begins. HTA attributes by the annotations'
  // copies on the GPU and drops the copy that begins after the last step did, by its own time: three are left.
  CHECK(in_optimizer == 36);
  CHECK(seen_on_gpu == 27);
}

// The plugin stretches each step to the end of the GPU work launched in it; the next begins there.
TEST_CASE("peers: tb_plugin's GPU utilization and kernel time of each step") {
  const auto vectors = corpus::vectors("analyzer-tbplugin-asserted.json");
  if (!vectors) return;
  for (const json& row : (*vectors)["real_traces"]) {
    const Timeline& timeline = rank_of(row["file"]);
    const auto view = metrics::view_of(timeline);
    REQUIRE(view);
    REQUIRE(view->steps.size() == row["steps_us"].size());
    const IntervalSet kernels = union_of(timeline, [](const Work& w) { return w.source == WorkSource::kernel; });
    Nanos begin = view->steps.front().host.begin, end{};
    for (std::size_t s = 0; s < view->steps.size(); ++s) {
      begin = std::max(s == 0 ? begin : end, view->steps[s].host.begin);
      end = view->steps[s].host.end;
      for (std::size_t i = 0; i < timeline.work.size(); ++i)
        if (view->step_of_work[i] == s) end = std::max(end, timeline.work[i].end);
      const double want = row["steps_us"][s][1];
      CHECK(std::abs(us_of(kernels.clipped_to({begin, end})) - want) <= 1);
    }
    const Interval window{view->steps.front().host.begin, end};
    const double utilization = us_of(kernels.clipped_to(window)) / us_of(window.length());
    const std::string printed = row["gpu"]["GPU Utilization"];
    CHECK(fmt::format("{:.2f} %", utilization * 100) == printed);
  }
}

TEST_CASE("peers: the sums that nsys stats printed beside the same capture") {
  const auto vectors = corpus::vectors("analyzer-nsys-stats-real.json");
  if (!vectors) return;
  for (const json& row : (*vectors)["vectors"]) {
    const Timeline& timeline = rank_of(row["file"]);
    const metrics::RankView view = span_view(timeline);
    std::multiset<std::pair<std::int64_t, std::int64_t>> ours, printed;
    for (const metrics::KernelRow& kernel : metrics::measure(view).kernels)
      ours.emplace(kernel.total.count(), kernel.count);
    for (const json& line : row["reports"]["cuda_gpu_kern_sum"])
      printed.emplace(std::stoll(line[1].get<std::string>()), std::stoll(line[2].get<std::string>()));
    CHECK(ours == printed);
    std::map<std::string, std::int64_t> memory;
    for (const Work& w : timeline.work)
      if (w.kind == WorkKind::memory) memory[timeline.name(w.name)] += (w.end - w.begin).count();
    CHECK(memory["Memcpy DtoH"] == 2880);
    CHECK(memory["Memset"] == 1088);
  }
}

TEST_CASE("peers: nccl-tests' bus bandwidths, and nsys-ai's idle capture") {
  const auto vectors = corpus::vectors("analyzer-busbw-formulas.json");
  if (!vectors) return;
  const std::map<std::string, timeline::Collective> kinds{{"all_reduce", timeline::Collective::allreduce},
                                                          {"all_gather", timeline::Collective::allgather}};
  for (const json& row : (*vectors)["examples"]) {
    const Nanos duration{std::llround(row["seconds"].get<double>() * 1e9)};
    const auto got = metrics::bus_bandwidth(kinds.at(row["collective"]), row["bytes"], row["n"], duration);
    REQUIRE(got.has_value());
    CHECK(*got == doctest::Approx(row["busbw"].get<double>()).epsilon(1e-6));
  }
  const metrics::RankView healthy = span_view(rank_of("nsys/nsysai_healthy_1pct.sqlite.zst"));
  const metrics::RankMeasures measures = metrics::measure(healthy);
  const auto idle = std::find_if(measures.measurements.begin(), measures.measurements.end(),
                                 [](const metrics::Measurement& m) { return m.metric == "gpu.idle"; });
  CHECK(as_double(*idle->value) * 100 == doctest::Approx(0.99).epsilon(0.005));
  for (const Finding& finding : findings::find(healthy, measures, findings::attribute(healthy)))
    CHECK_MESSAGE(finding.code < FindingCode::small_allreduces, word(finding.code));
}

// The early rank spins in NCCL and looks busy; the late one is the straggler. TraceLens: minimum over ranks of each
// call.
TEST_CASE("peers: the Megatron pair, who waits and who is late") {
  const auto vectors = corpus::vectors("analyzer-tracelens-nccl-computed.json");
  if (!vectors) return;
  std::vector<Timeline> timelines;
  for (const char* file : {"kineto/megatron_tp2_rank0.pt.trace.json", "kineto/megatron_tp2_rank1.pt.trace.json"})
    timelines.push_back(rank_of(file));
  const std::vector<report::TraceFacts> facts(2);
  const auto report = report::report_of(timelines, facts, metrics::with_window({}, "span").value());
  REQUIRE(report);
  const auto measured = [&](std::string_view id) {
    return *std::find_if(report->measurements.begin(), report->measurements.end(),
                         [&](const metrics::RunMeasurement& m) { return m.mean.metric == id; });
  };
  CHECK(measured("allreduce.matched_calls").mean.value == Number{std::int64_t{13}});
  CHECK(std::floor(as_double(*measured("allreduce.transfer_mean").mean.value)) == 20'654);
  const metrics::RunMeasurement wait = measured("allreduce.wait_share");
  CHECK(wait.max_rank == 1);
  CHECK(wait.max > 0.98);
  CHECK(wait.min_rank == 0);
  CHECK(wait.min == doctest::Approx(0));
  const auto straggler = std::find_if(report->findings.begin(), report->findings.end(),
                                      [](const Finding& f) { return f.code == FindingCode::straggler; });
  REQUIRE(straggler != report->findings.end());
  CHECK(std::get<std::int64_t>(straggler->evidence.at("rank")) == 0);
  CHECK(std::get<std::int64_t>(straggler->evidence.at("waiting_rank")) == 1);
  CHECK(straggler->count == 12);
}
