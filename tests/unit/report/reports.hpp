// For: reports for the tests of the report room: one made by hand that has a value in every field, and one measured.
// Not for: values; which are right is the metrics room's and the golden cases' business.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/report/report.hpp"
#include "analyzer/timeline/builder.hpp"

namespace traceweir::report::test {

inline Interval ns(std::int64_t begin, std::int64_t end) { return {Nanos{begin}, Nanos{end}}; }

/// A rank of one device and a window of 1000 ns whose identities hold.
inline RankReport full_rank(std::int64_t number) {
  using findings::IdleCause;
  using findings::TermKind;
  using timeline::Collective;
  using timeline::WorkKind;
  RankReport rank;
  rank.rank = number;
  rank.world_size = 2;
  rank.trace = {"kineto_json", "gzip", 749757, std::string(64, 'a'), "libkineto", "trace.json.gz"};
  rank.environment = {{"NVIDIA A100-SXM4-80GB"}, 1, "550.54", "12.4", "2.21", "pytorch", "none"};
  rank.window = metrics::Window{metrics::WindowKind::steps, ns(-50, 950), 2, 1};
  rank.devices = {{{0, "NVIDIA A100-SXM4-80GB", Nanos{500}, Nanos{0}, Nanos{100}, Nanos{50}, Nanos{350}},
                   {{IdleCause::input, Nanos{200}},
                    {IdleCause::sync, Nanos{100}},
                    {IdleCause::launch, Nanos{50}},
                    {IdleCause::dependency, Nanos{0}},
                    {IdleCause::unknown, Nanos{0}}}}};
  rank.measurements = {{"gpu.utilization", Number{0.6}, Unit::ratio, Better::higher, std::nullopt},
                       {"gpu.idle", Number{0.35}, Unit::ratio, Better::lower, std::nullopt},
                       {"gpu.compute", Number{1.0 / 3}, Unit::ratio, Better::higher, std::nullopt},
                       {"allreduce.count", Number{std::int64_t{7}}, Unit::count, Better::none, std::nullopt},
                       {"allreduce.time_mean", Number{1234.5}, Unit::ns, Better::lower, std::nullopt},
                       {"allreduce.busbw", std::nullopt, Unit::gb_per_s, Better::higher, NotMeasured::no_sizes},
                       {"memcpy.h2d_overlap", std::nullopt, Unit::ratio, Better::higher, NotMeasured::no_copies}};
  const auto idle = [](IdleCause cause, const char* phase, std::int64_t length) {
    return findings::Term{TermKind::idle, phase, cause, Collective::other, 0, Nanos{length}};
  };
  rank.breakdown = {idle(IdleCause::input, "data_loading", 200),
                    idle(IdleCause::sync, "", 100),
                    idle(IdleCause::launch, "forward", 50),
                    {TermKind::compute, "gemm", IdleCause::unknown, Collective::other, 0, Nanos{500}},
                    {TermKind::exposed_comm, "", IdleCause::unknown, Collective::allreduce, 8196000, Nanos{60}},
                    {TermKind::exposed_comm, "", IdleCause::unknown, Collective::allreduce, 0, Nanos{40}},
                    {TermKind::exposed_memory, "h2d", IdleCause::unknown, Collective::other, 0, Nanos{50}}};
  rank.steps = {{4, "ProfilerStep#4", Nanos{500}, {{"gpu.utilization", 0.5}, {"step.time_mean", 500}}}};
  rank.kernels = {{"gemm", WorkKind::compute, 10, Nanos{500}, 0.5},
                  {"ncclDevKernel_AllReduce_Sum_f32_RING_LL", WorkKind::comm, 7, Nanos{120}, 0.12},
                  {"rest", WorkKind::compute, 3, Nanos{10}, 0.01}};
  rank.collectives = {{Collective::allreduce, 8196000, 5, Nanos{80}, Nanos{10}, Nanos{20}, 2, "Float"},
                      {Collective::allreduce, 0, 2, Nanos{40}, Nanos{20}, Nanos{20}, 0, ""}};
  rank.phases = {{"forward", 3, Nanos{300}, Nanos{250}}};
  rank.findings = {{FindingCode::few_steps,
                    Severity::warning,
                    std::nullopt,
                    1,
                    {{"whole_steps_count", std::int64_t{2}}},
                    "Profile more steps."},
                   {FindingCode::gap,
                    Severity::warning,
                    0,
                    2,
                    {{"gap_1_length_ns", std::int64_t{600'000'000}}, {"share_ratio", 0.25}, {"phase", "data_loading"}},
                    "Look for checkpoints."}};
  return rank;
}

inline Report full_report() {
  Report report;
  report.analyzer_version = "0.1.0";
  report.classifier = 3;
  report.ranks = {full_rank(0), full_rank(1)};
  report.measurements = {
      {{"gpu.utilization", Number{0.6}, Unit::ratio, Better::higher, std::nullopt}, 0.55, 0.65, 1, 0},
      {{"allreduce.time_max", Number{2000.5}, Unit::ns, Better::lower, std::nullopt}, 2000, 2001, 0, 1},
      {{"rank.step_skew", std::nullopt, Unit::ratio, Better::lower, NotMeasured::no_steps}, 0, 0, 0, 0}};
  report.collectives = {{timeline::Collective::allreduce, 8196000, 5, Nanos{70}, 10, Nanos{160}},
                        {timeline::Collective::allreduce, 0, 2, Nanos{40}, 4, Nanos{80}}};
  return report;
}

/// A timeline with one kernel a step, a copy and a wait, and marked steps.
inline timeline::Timeline small_timeline(int steps = 5) {
  timeline::TimelineBuilder builder;
  builder.has_host_calls = true;
  builder.source = {"kineto_json", "none", 4711, "libkineto"};
  builder.set_gpu(builder.device(0), "NVIDIA H100");
  for (int i = 0; i < steps; ++i) {
    const std::int64_t t = i * 1000;
    builder.add(timeline::RangeRow{ns(t, t + 1000), 1, builder.range_name("ProfilerStep#" + std::to_string(i))});
    builder.add(timeline::RangeRow{ns(t, t + 200), 1, builder.range_name("data_loading")});
    builder.add(timeline::CallRow{ns(t + 210, t + 220), 1, i + 1, "cudaLaunchKernel"});
    timeline::WorkRow row{.span = ns(t + 300, t + 900), .name = builder.name("gemm")};
    row.correlation = i + 1;
    row.stream = 7;
    builder.add(row);
  }
  return std::move(builder).finish();
}

}  // namespace traceweir::report::test
