#include "gate/finding_rule.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gate/sentences.hpp"

namespace traceweir::gate {
namespace {

constexpr std::string_view busy = "gpu.utilization", stepping = "step.time_mean", matching = "allreduce.wait_share";
constexpr std::string_view evidence[] = {busy, stepping, matching};

bool lacks(const JudgedRun& run, std::string_view metric, NotMeasured why) {
  const metrics::Measurement* row = measurement_of(run, metric);
  return row && !row->value && row->not_measured == why;
}

// ---- what a run may lack

bool is_of_a_trace(const metrics::Measurement& row) { return !is_custom(row.metric); }
bool is_measured_in_a_trace(const metrics::Measurement& row) { return is_of_a_trace(row) && row.value.has_value(); }

/// Values of the job's own come without any trace; their report has no other value.
bool has_no_trace(const JudgedRun& run) {
  const auto& rows = run.measurements;
  if (std::any_of(rows.begin(), rows.end(), &is_measured_in_a_trace)) return false;
  return std::none_of(rows.begin(), rows.end(), &is_of_a_trace) ||
         !std::all_of(rows.begin(), rows.end(), &is_of_a_trace);
}
bool has_no_gpu_work(const JudgedRun& run) { return lacks(run, busy, NotMeasured::no_gpu_work); }
bool has_no_steps(const JudgedRun& run) { return lacks(run, stepping, NotMeasured::no_steps); }
bool has_one_rank(const JudgedRun& run) { return run.ranks_present < 2; }
bool has_ranks_apart(const JudgedRun& run) { return lacks(run, matching, NotMeasured::ranks_apart); }

/// Something that findings are made from. In order: the first that a run lacks is told.
struct Need {
  unsigned bit;
  bool (*is_lacking)(const JudgedRun&);
  std::string_view why, next;
};
constexpr unsigned trace = 1, gpu_work = 2, steps = 4, several_ranks = 8, matched_ranks = 16;
constexpr Need needs[] = {
    {trace, &has_no_trace, "there is no trace to find it in", "Upload a trace"},
    {gpu_work, &has_no_gpu_work, "the trace has no GPU work",
     "Profile with CUDA activities (ProfilerActivity.CUDA, or nsys profile -t cuda,nvtx)"},
    {steps, &has_no_steps, "no steps are marked",
     "Mark the steps of the training loop (torch.profiler's step(), or NVTX ranges named \"step N\")"},
    {several_ranks, &has_one_rank, "it takes two ranks, and there is one", "Upload one trace per rank"},
    {matched_ranks, &has_ranks_apart, "the ranks were analysed apart", "Upload the traces instead of reports"},
};

constexpr unsigned of_gpu = trace | gpu_work, of_steps = of_gpu | steps, of_ranks = of_gpu | several_ranks;

/// What each finding is made from. A collective or a copy that a job does not have is no lack: it has no such fault.
struct NeedsRow {
  FindingCode code;
  unsigned needs;
};
constexpr NeedsRow needs_rows[] = {
    {FindingCode::truncated, trace},
    {FindingCode::lost_events, trace},
    {FindingCode::zero_timestamps, trace},
    {FindingCode::stream_overrun, trace},
    {FindingCode::duplicate_events, trace},
    {FindingCode::negative_duration, trace},
    {FindingCode::open_range, trace},
    {FindingCode::no_steps, trace},
    {FindingCode::few_steps, trace},
    {FindingCode::graph_level_tracing, of_gpu},
    {FindingCode::unknown_collectives, of_gpu},
    {FindingCode::clock_base_missing, trace},
    {FindingCode::orphan_kernels, of_gpu},
    {FindingCode::mixed_gpus, of_gpu},
    {FindingCode::invalid_text, trace},
    {FindingCode::small_allreduces, of_gpu},
    {FindingCode::exposed_allreduce, of_gpu},
    {FindingCode::sync_in_step, of_steps},
    {FindingCode::accumulation_sync, of_steps},
    {FindingCode::pageable_copies, of_gpu},
    {FindingCode::serial_copies, of_gpu},
    {FindingCode::input_bound, of_gpu},
    {FindingCode::launch_bound, of_gpu},
    {FindingCode::many_small_copies, of_steps},
    {FindingCode::alloc_in_step, of_steps},
    {FindingCode::straggler, of_ranks | matched_ranks},
    {FindingCode::rank_imbalance, of_ranks},
    {FindingCode::mixed_backends, of_gpu},
    {FindingCode::low_utilization, of_gpu},
    {FindingCode::gap, of_gpu},
    {FindingCode::hot_gpu, of_gpu},
};

/// The first thing that the run lacks for the finding.
const Need* lacking(FindingCode code, const JudgedRun& run) {
  const auto row = std::find_if(std::begin(needs_rows), std::end(needs_rows),
                                [code](const NeedsRow& candidate) { return candidate.code == code; });
  const unsigned wanted = row == std::end(needs_rows) ? trace : row->needs;
  for (const Need& need : needs)
    if ((wanted & need.bit) != 0 && need.is_lacking(run)) return &need;
  return nullptr;
}

std::int64_t count_of(FindingCode code, const JudgedRun& run) {
  std::int64_t count = 0;
  for (const Finding& finding : run.findings) {
    if (finding.code != code) continue;
    // Counts come from a report that a stranger may have written: they are added without overflow.
    const std::int64_t more = std::max<std::int64_t>(finding.count, 1);
    count = count > INT64_MAX - more ? INT64_MAX : count + more;
  }
  return count;
}

std::string advice_in(FindingCode code, const JudgedRun& run) {
  for (const Finding& finding : run.findings)
    if (finding.code == code && !finding.advice.empty()) return finding.advice;
  return fmt::format("Look at the finding {} of this run.", word(code));
}

void put_found(RuleResult& out, FindingCode code, const JudgedRun& run) {
  out.reason = Reason::found;
  out.sentence = fmt::format("{} was found ({})", word(code), counted(count_of(code, run), "time"));
  out.next = advice_in(code, run);
}

void put_absent(RuleResult& out, FindingCode code, const JudgedRun& run) {
  const Need* need = lacking(code, run);
  out.reason = need ? Reason::not_measured : Reason::within;
  out.sentence = need ? fmt::format("{} cannot be judged: {}", word(code), need->why)
                      : fmt::format("{} was not found", word(code));
  if (!need) return;
  out.observed.reset();
  out.next = fmt::format("{}, or take findings.{} out of this workload's policy.", need->next, word(code));
}

void put_obstacle(RuleResult& out, FindingCode code, const Obstacle& obstacle) {
  out.reason = obstacle.reason;
  out.observed.reset();
  out.sentence = fmt::format("{} cannot be judged: {}", word(code), obstacle.what);
  out.next = obstacle.next;
}

}  // namespace

RuleResult judge_finding(const FindingRule& rule, const JudgedRun& run, const std::optional<Obstacle>& obstacle) {
  RuleResult out;
  out.metric = fmt::format("finding:{}", word(rule.code));
  out.unit = std::string(word(Unit::count));
  out.better = Better::lower;
  out.level = rule.level;
  const std::int64_t count = count_of(rule.code, run);
  out.observed = static_cast<double>(count);
  if (count > 0)
    put_found(out, rule.code, run);
  else if (obstacle)
    put_obstacle(out, rule.code, *obstacle);
  else
    put_absent(out, rule.code, run);
  out.outcome = outcome_for(out.reason, rule.level);
  return out;
}

std::span<const std::string_view> finding_evidence() { return evidence; }

}  // namespace traceweir::gate
