#include "analyzer/findings/find.hpp"

#include <string>
#include <utility>

#include "analyzer/findings/data_trust.hpp"
#include "analyzer/findings/finding_table.hpp"
#include "analyzer/findings/job_advice.hpp"
#include "analyzer/findings/job_habits.hpp"

namespace traceweir::findings {
namespace {

using Code = FindingCode;

constexpr FindingRow rows[] = {
    {Code::truncated, Severity::data_loss,
     "The trace ends in the middle; let the profiler finish writing before the job is killed.",
     &counted<Code::truncated>},
    {Code::lost_events, Severity::data_loss,
     "The profiler lost events; profile fewer steps, trace less, or give it larger buffers.",
     &counted<Code::lost_events>},
    {Code::zero_timestamps, Severity::warning,
     "GPU rows without a time were left out; update the driver or CUPTI (CUDA 12.6 to 13.0 lose times at session "
     "start).",
     &zero_timestamps},
    {Code::stream_overrun, Severity::warning,
     "Kernels end after their successors on one stream, which a GPU does not do; their durations are not to be "
     "trusted.",
     &stream_overrun},
    {Code::duplicate_events, Severity::warning,
     "Exact copies of GPU rows were left out; check whether traces were merged twice.",
     &counted<Code::duplicate_events>},
    {Code::negative_duration, Severity::warning, "Rows that end before they start were left out.",
     &counted<Code::negative_duration>},
    {Code::open_range, Severity::info,
     "Ranges that were never closed are no steps and no phases; end the capture between steps.",
     &counted<Code::open_range>},
    {Code::no_steps, Severity::warning,
     "No steps are marked, so nothing is given per step; mark them (profiler.step() in PyTorch, an NVTX range `step N` "
     "elsewhere) or name your own with --steps.",
     &no_steps},
    {Code::few_steps, Severity::info, "Few whole steps were profiled; 10 or more make the numbers steadier.",
     &few_steps},
    {Code::graph_level_tracing, Severity::warning,
     "CUDA graphs were traced as a whole, so what runs inside them is unknown; profile with --cuda-graph-trace=node.",
     &graph_level_tracing},
    {Code::unknown_collectives, Severity::info,
     "Communication kernels whose kind the trace does not tell are counted as `other`.", &unknown_collectives},
    {Code::clock_base_missing, Severity::info,
     "The trace does not say where its clock starts, so its times cannot be set beside other ranks'.",
     &counted<Code::clock_base_missing>},
    {Code::orphan_kernels, Severity::info,
     "Kernels without a launching call belong to no step, and idle time before them has no known cause; start the "
     "profiler before the work is launched.",
     &counted<Code::orphan_kernels>},
    {Code::mixed_gpus, Severity::warning, "One rank uses different GPUs; its means mix them.", &mixed_gpus},
    {Code::invalid_text, Severity::info, "Text or numbers that cannot be right were replaced or left out.",
     &invalid_text},
    {Code::small_allreduces, Severity::warning,
     "Many all-reduces are small and pay latency; raise the gradient bucket size (bucket_cap_mb).", &small_allreduces},
    {Code::exposed_allreduce, Severity::warning,
     "All-reduce time is not hidden behind compute; overlap it with the backward pass, or change bucket size and "
     "order.",
     &exposed_allreduce},
    {Code::sync_in_step, Severity::warning,
     "The host waits for the GPU inside steps; look for .item(), .cpu(), synchronize() and printing of tensors.",
     &sync_in_step},
    {Code::accumulation_sync, Severity::warning,
     "Gradients are reduced in every micro-step of an accumulation; keep all but the last one inside no_sync().",
     &accumulation_sync},
    {Code::pageable_copies, Severity::warning,
     "Copies from pageable memory block the host and run slower; use pin_memory=True and non_blocking=True.",
     &pageable_copies},
    {Code::serial_copies, Severity::warning,
     "Host-to-device copies do not overlap with kernels; prefetch the next batch on another stream.", &serial_copies},
    {Code::input_bound, Severity::warning,
     "The GPU waits for input; use more data-loader workers, prefetch, or move decoding off the critical path.",
     &input_bound},
    {Code::launch_bound, Severity::warning,
     "Kernels are shorter than it takes to launch them; use CUDA graphs, fusion (torch.compile) or a larger batch.",
     &launch_bound},
    {Code::many_small_copies, Severity::info, "Many small copies a step; batch them into one.", &many_small_copies},
    {Code::alloc_in_step, Severity::info,
     "Device memory is allocated or freed inside steps; use a caching allocator or keep the buffers.", &alloc_in_step},
    {Code::mixed_backends, Severity::info,
     "The process communicates through gloo and through NCCL; gloo goes over the host, so keep to one backend for "
     "tensors on the GPU.",
     &mixed_backends},
    {Code::low_utilization, Severity::warning,
     "Kernels run for less than half of the time; the largest idle cause says where to start.", &low_utilization},
    {Code::gap, Severity::warning,
     "The GPU had nothing to do for more than half a second at a time; look for checkpoints, evaluation or logging.",
     &gap},
    {Code::hot_gpu, Severity::warning,
     "The GPU is hotter than 80 °C, where clocks may be lowered; look at its cooling and at throttling before "
     "comparing "
     "times.",
     &hot_gpu},
};

}  // namespace

std::span<const FindingRow> finding_table() { return rows; }

std::vector<Finding> find(const metrics::RankView& view, const metrics::RankMeasures& measures,
                          const Attribution& attribution) {
  const Case seen_case{view, measures, attribution};
  std::vector<Finding> findings;
  for (const FindingRow& row : finding_table()) {
    std::optional<Seen> seen = row.seen(seen_case);
    if (!seen) continue;
    findings.push_back({.code = row.code,
                        .severity = seen->severity.value_or(row.severity),
                        .device = seen->device,
                        .count = seen->count,
                        .evidence = std::move(seen->evidence),
                        .advice = std::move(seen->advice).value_or(std::string(row.advice))});
  }
  return findings;
}

}  // namespace traceweir::findings
