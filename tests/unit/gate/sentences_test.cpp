// The words of verdicts: what was seen, and what to do next.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <string>
#include <vector>

#include "gate/judge.hpp"
#include "tests/unit/gate/cases.hpp"

using namespace traceweir;
using namespace traceweir::gate;
using namespace traceweir::gate::cases;

namespace {}  // namespace

TEST_CASE("judge: sentences") {
  struct Row {
    const char* metric;
    double value;
    std::vector<double> baseline;
    const char* rule;
    const char* want;
  };
  const Row rows[] = {
      {utilization, 0.68, around(0.891, 0.0, 6), "worse_by = \"3pp\"",
       "gpu.utilization fell from 89.1 % to 68.0 % (-21.1 pp, tolerance 3 pp)"},
      {"gpu.idle", 0.32, around(0.109, 0.0, 6), "worse_by = \"3pp\"",
       "gpu.idle rose from 10.9 % to 32.0 % (+21.1 pp, tolerance 3 pp)"},
      {"allreduce.time_mean", 52e6, around(45e6, 0, 6), "worse_by = \"10%\"\nat_least = \"0.2 ms\"",
       "allreduce.time_mean rose from 45 ms to 52 ms (+15.6 %, tolerance 10 % and 0.2 ms)"},
      {"allreduce.time_mean",
       52.3e6,
       {},
       "max = \"50 ms\"",
       "allreduce.time_mean is 52.3 ms, above the limit of 50 ms"},
      {"allreduce.time_mean", 42e6, {}, "max = \"50 ms\"", "allreduce.time_mean is 42 ms, within the limit of 50 ms"},
      {"allreduce.time_mean", 45e6, around(45e6, 0, 6), "worse_by = \"10%\"",
       "allreduce.time_mean is unchanged at 45 ms (0 %, tolerance 10 %)"},
      {utilization, 0.8881, around(0.8885, 0.0, 6), "worse_by = \"3pp\"",
       "gpu.utilization is unchanged at 88.8 % (0.0 pp, tolerance 3 pp)"},
      {utilization, 0.88781, around(0.8885, 0.004, 6), "worse_by = \"3pp\"",
       "gpu.utilization is unchanged at 88.8 % (-0.1 pp, tolerance 3 pp)"},
      // No noise is looked at: what is seen is said.
      {utilization, 0.8868, around(0.8885, 0.004, 6), "worse_by = \"3pp\"\nnoise = \"none\"",
       "gpu.utilization fell from 88.8 % to 88.7 % (-0.2 pp, tolerance 3 pp)"},
      // Inside a wide noise, but worse than the tolerance: not "unchanged".
      {utilization, 0.85, around(0.89, 0.06, 6), "worse_by = \"3pp\"",
       "gpu.utilization fell from 89.0 % to 85.0 % (-4.0 pp, tolerance 3 pp)"},
      {"sync.count_per_step", 0, around(0, 0, 6), "worse_by = \"10%\"",
       "sync.count_per_step is unchanged at 0 (0, tolerance 10 %)"},
      {"allreduce.time_mean", 400e3, {}, "max = \"250us\"", "allreduce.time_mean is 400 µs, above the limit of 250 µs"},
      {"sync.count_per_step", 2, around(0, 0, 6), "worse_by = \"10%\"",
       "sync.count_per_step rose from 0 to 2 (+2, tolerance 10 %)"},
      {step, 61e6, {60e6, 60e6}, "worse_by = \"10%\"", "learning 2/5: step.time_p50 is 61 ms"},
  };
  for (const Row& row : rows)
    CHECK(rule_of(row.metric, row.value, row.baseline, fmt::format("[rules.\"{}\"]\n{}\n", row.metric, row.rule))
              .sentence == row.want);
}

TEST_CASE("judge: sentences say when the value is a mean, and what this run has") {
  struct Row {
    const char* metric;
    std::vector<double> observed, baseline;
    std::int64_t others;
    const char* rule;
    const char* want;
  };
  const std::vector<double> steady = around(0.731, 0.0, 6), pair{0.561, 0.731}, fine{0.72, 0.74};
  const Row rows[] = {
      {utilization, pair, steady, 0, "worse_by = \"3pp\"",
       "gpu.utilization fell from 73.1 % to 64.6 % (-8.5 pp, tolerance 3 pp; mean of 2 runs of this commit, this run "
       "73.1 %)"},
      {utilization, fine, around(0.80, 0.04, 6), 0, "worse_by = \"9pp\"",
       "gpu.utilization fell from 80.0 % to 73.0 % (-7.0 pp, tolerance 9 pp; mean of 2 runs of this commit, this run "
       "74.0 %)"},
      {utilization,
       pair,
       {},
       0,
       "min = \"95%\"",
       "gpu.utilization is 64.6 %, below the minimum of 95 % (mean of 2 runs of this commit, this run 73.1 %)"},
      {utilization,
       pair,
       {},
       0,
       "min = \"50%\"",
       "gpu.utilization is 64.6 %, within the minimum of 50 % (mean of 2 runs of this commit, this run 73.1 %)"},
      {utilization,
       {0.561, 0.931},
       {},
       0,
       "min = \"90%\"\nconfirm = 2",
       "gpu.utilization is 74.6 %, below the minimum of 90 % (mean of 2 runs of this commit, this run 93.1 %), but "
       "fewer than 2 of its 2 runs are"},
      {utilization,
       pair,
       {},
       0,
       "worse_by = \"3pp\"",
       "learning 0/5: gpu.utilization is 64.6 % (mean of 2 runs of this commit, this run 73.1 %)"},
      {utilization,
       pair,
       {},
       7,
       "worse_by = \"3pp\"",
       "gpu.utilization is 64.6 % (mean of 2 runs of this commit, this run 73.1 %), and no run of main has this "
       "environment (7 runs of others)"},
  };
  for (const Row& row : rows) {
    std::vector<JudgedRun> runs;
    for (const double value : row.observed) runs.push_back(run_of(row.metric, value));
    Baseline baseline = baseline_of(row.metric, row.baseline);
    baseline.other_class_runs = row.others;
    baseline.place = Baseline::Place::elsewhere;
    const Policy policy = policy_of(fmt::format("[rules.\"{}\"]\n{}\n", row.metric, row.rule));
    CHECK(only_rule(judge(runs, baseline, policy)).sentence == row.want);
  }
}

TEST_CASE("judge: what to do next") {
  Baseline known = baseline_of(step, around(100e6, 0, 6));
  known.series[step][0] = {"0198c2d0-1f00-7000-8000-0123456789ab", "c992e1e5f0ab4d1c8f0e5a7b9c3d2e1f00112233", 100e6};
  const std::string lacks = "[rules.\"step.time_p5*\"]\nworse_by = \"5%\"\n";
  JudgedRun idle, unmarked;
  idle.measurements = {unmeasured(step, NotMeasured::no_gpu_work)};
  unmarked.measurements = {unmeasured(step, NotMeasured::no_steps)};
  struct Row {
    JudgedRun run;
    Baseline baseline;
    std::string policy;
    const char* want;
  };
  const Row rows[] = {
      {run_of(step, 200e6), known, step_5,
       "Compare with run 0198c2d0-1f00-7000-8000-0123456789ab (commit c992e1e5f0ab) and look at what changed since."},
      {run_of(step, 200e6), baseline_of(step, {}), step_5, "Upload 5 more runs of main; then this rule is judged."},
      {run_of(step, 200e6), baseline_of(step, around(100e6, 0, 4)), step_5,
       "Upload 1 more run of main; then this rule is judged."},
      {run_of(step, 200e6), known, step_5 + "confirm = 2\n",
       "Run the job again for this commit: 1 more run must agree before step.time_p50 fails."},
      {idle, {}, lacks, "Profile with CUDA activities: ProfilerActivity.CUDA, or nsys profile -t cuda,nvtx."},
      {idle, {}, step_5, "Profile with CUDA activities: ProfilerActivity.CUDA, or nsys profile -t cuda,nvtx."},
      {unmarked, {}, lacks, ""},
  };
  for (const Row& row : rows) {
    const std::string next = only_rule(judge_one(row.run, row.baseline, policy_of(row.policy))).next;
    CHECK(next == row.want);
    CHECK(next.size() <= 110);
  }
  CHECK(judge_one(idle, {}, policy_of(lacks)).summary ==
        "nothing was judged: step.time_p50 is measured neither by this run (the trace has no GPU work) nor by its "
        "baseline");
}

TEST_CASE("judge: the summary counts the other rules of the worst outcome") {
  const std::string idle = "[rules.\"gpu.idle\"]\nmax = \"50%\"\n",
                    used = "[rules.\"gpu.utilization\"]\nmin = \"85%\"\n";
  const std::string slow = "[rules.\"step.time_p50\"]\nmax = \"50 ms\"\n";
  JudgedRun run = run_of("gpu.idle", 0.9);
  run.measurements.push_back(measured(utilization, 0.1));
  run.measurements.push_back(measured(step, 60e6));
  const auto ends = [&](const std::string& policy, const char* end) {
    return judge_one(run, {}, policy_of(policy)).summary.ends_with(end);
  };
  CHECK(ends(idle, "above the limit of 50 %"));
  CHECK(ends(idle + used, " (and 1 more rule fails)"));
  CHECK(ends(idle + used + slow, " (and 2 more rules fail)"));
  CHECK(ends(idle + "level = \"warn\"\n" + used + "level = \"warn\"\n", " (and 1 more rule warns)"));
  CHECK(ends(idle + "confirm = 2\n" + used + "confirm = 2\n" + slow + "confirm = 2\n",
             " (and 2 more rules are inconclusive)"));
}
