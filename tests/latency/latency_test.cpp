// A history of 10 000 runs of 100 metrics each, a million points (or of TRACEWEIR_LATENCY_RUNS runs): how long judging,
// keeping, finding changes and a history page take. The times are printed and stand in docs/gate.md; the bounds are
// wide, since they only have to tell what follows the window from what follows the history.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>

#include <fmt/format.h>

#include "server/pipeline/judging.hpp"
#include "server/pipeline/settle.hpp"
#include "server/wire/listing.hpp"
#include "tests/contract/samples.hpp"
#include "tests/contract/store_under_test.hpp"

using namespace traceweir;
using namespace traceweir::contract;
using namespace traceweir::store;

namespace {

constexpr int made_by_verbs = 20, metric_count = 100, samples = 40;

int history_runs() {
  const char* asked = std::getenv("TRACEWEIR_LATENCY_RUNS");
  const int runs = asked == nullptr ? 10'000 : std::atoi(asked);
  REQUIRE(runs >= 1000);  // fewer are no history
  return runs;
}

/// Copies of the first run up to number `{}`, with values around its own, ordered as the tables are.
constexpr const char* copy_runs = R"(
BEGIN;
INSERT INTO run (id, project_id, lane_id, commit_sha, base_branch, head_sha, base_sha, fork, attempt, ci_run, job,
                 matrix, job_url, run_key, ranks_expected, steps_glob, window_kind, policy_sha256, token_id, received_us,
                 status, outcome, comparable_key, in_baseline, in_series, error_code, error_message, finished_us)
WITH RECURSIVE number (n) AS (SELECT 20 UNION ALL SELECT n + 1 FROM number WHERE n + 1 < {})
SELECT 'run-' || n, project_id, lane_id, 'sha-run-' || n, base_branch, head_sha, base_sha, fork, attempt, ci_run, job,
       matrix, job_url, run_key, ranks_expected, steps_glob, window_kind, policy_sha256, token_id, received_us + n,
       status, outcome, comparable_key, in_baseline, in_series, error_code, error_message, finished_us
FROM run CROSS JOIN number WHERE id = 'run-0' ORDER BY n;
INSERT INTO measurement (lane_id, metric_id, run_seq, received_us, value, level, low, high)
SELECT r.lane_id, v.metric_id, r.seq, r.received_us, v.value * (1 + ((r.seq * 7919 + v.metric_id * 31) % 1000 - 500) / 50000.0), v.value,
       v.value * 0.98, v.value * 1.02
FROM measurement v CROSS JOIN run r WHERE v.run_seq = (SELECT seq FROM run WHERE id = 'run-0') AND r.seq > 20
ORDER BY v.metric_id, r.seq;
COMMIT;
)";

double noisy(double value, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  return value * (1 + std::uniform_real_distribution<double>(-0.01, 0.01)(random));
}

metrics::RunMeasurement measured(const std::string& id, double value, Unit unit, Better better) {
  metrics::RunMeasurement row;
  row.mean = {id, Number(value), unit, better, std::nullopt};
  return row;
}

/// The gated metrics of the built-in policy, and others of the job's own.
report::Report report_of(std::uint64_t seed) {
  report::Report report;
  report.measurements = {measured("gpu.utilization", noisy(0.8, seed), Unit::ratio, Better::higher),
                         measured("gpu.idle", noisy(0.15, seed + 1), Unit::ratio, Better::lower),
                         measured("allreduce.time_mean", noisy(5e6, seed + 2), Unit::ns, Better::lower),
                         measured("comm.exposed_per_step", noisy(8e6, seed + 3), Unit::ns, Better::lower),
                         measured("step.time_p50", noisy(60e6, seed + 4), Unit::ns, Better::lower)};
  for (int m = static_cast<int>(report.measurements.size()); m < metric_count; ++m)
    report.measurements.push_back(
        measured("custom.m" + std::to_string(m), noisy(10.0 + m, seed + 5), Unit::count, Better::lower));
  return report;
}

RunHead head_of(int number) {
  RunHead head = plain_head("run-" + std::to_string(number));
  head.received_at = at(number);
  return head;
}

/// Every commit is registered with its parent, as the client does.
void put_graph(Store& store, int commits) {
  std::vector<Commit> piece;
  for (int i = 1; i <= commits; ++i) {
    piece.push_back({"sha-run-" + std::to_string(i), {"sha-run-" + std::to_string(i - 1)}, at(i), "change", "Ada"});
    if (piece.size() < 1000 && i < commits) continue;
    must(store.put_commits("llama", piece));
    piece.clear();
  }
}

class Stopwatch {
 public:
  template <typename Work>
  void time(const Work& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    times_.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  /// Prints, and returns the 95th percentile in ms.
  double p95(const char* what) {
    std::sort(times_.begin(), times_.end());
    const double middle = times_[times_.size() / 2], high = times_[times_.size() * 95 / 100];
    std::printf("  %-52s p50 %8.2f ms   p95 %8.2f ms\n", what, middle, high);
    return high;
  }

 private:
  std::vector<double> times_;
};

struct Measured {
  Stopwatch judging, settling;
};

/// One run, from its report on, as the pipeline does it.
void one_run(Store& store, const Project& project, int number, Measured& clocks) {
  const RunHead head = head_of(number);
  const report::Report report = report_of(static_cast<std::uint64_t>(number) * 1000);
  const gate::Policy& policy = gate::built_in_policy();
  const std::string key = "a100";
  must(store.begin_run(head, upload_of("blob-" + head.id)));
  clocks.judging.time([&] {
    const auto judged = must(pipeline::judge_run(store, {head, report, policy, key, at(number)}));
    if (number > 0) CHECK(judged.verdict.ancestry == "known");
    RunResult result = plain_result(head.id);
    result.outcome = judged.verdict.outcome;
    result.in_baseline = judged.in_baseline;
    result.in_series = judged.in_series;
    result.bands = judged.bands;
    result.values.clear();
    for (const auto& row : report.measurements) result.values.emplace_back(row.mean.metric, as_double(*row.mean.value));
    must(store.finish_run(result));
  });
  clocks.settling.time([&] {
    must(pipeline::settle_run(store, {project, head, report, policy, key, at(number)},
                              [](const std::vector<std::string>&) { return std::string("{}"); }));
  });
}

/// What the API answers.
std::size_t page(Store& store, std::int64_t limit) {
  HistoryQuery query{
      .project = "llama", .workload = "ddp", .branch = "main", .metric = "step.time_p50", .limit = limit};
  const auto points = must(store.history(query));
  const Levels levels = must(store.levels(query));
  wire::HistoryDocument document{query.metric, "ns", Better::lower, {}};
  for (const HistoryPoint& point : points)
    document.points.push_back({point.run, point.commit, point.branch, point.comparable_key, point.committed_at,
                               point.uploaded_at, point.value, point.outcome, point.subject, point.author,
                               point.superseded, point.accepted, point.in_baseline, point.band});
  CHECK(levels.segments.size() >= 1);
  return wire::to_json(document).size();
}

}  // namespace

TEST_CASE("latency: judging and a history page, at 10 000 runs and a million points") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    const Project project = *must(store->project("llama"));
    Measured first, clocks;
    const int runs = history_runs();
    put_graph(*store, runs + samples);
    for (int i = 0; i < made_by_verbs; ++i) one_run(*store, project, i == 0 ? 0 : i, first);
    under_test.execute(fmt::format(copy_runs, runs).c_str());
    under_test.execute("ANALYZE");
    for (int i = 0; i < samples; ++i) one_run(*store, project, runs + i, clocks);
    Stopwatch short_page, long_page;
    for (int i = 0; i < samples; ++i) {
      short_page.time([&] { CHECK(page(*store, 500) > 100'000); });
      long_page.time([&] { CHECK(page(*store, 10'000) > static_cast<std::size_t>(runs) * 300); });
    }
    CHECK(clocks.judging.p95("a run judged and kept (promised: 50 ms)") < 1'000);
    CHECK(clocks.settling.p95("its changes and segments found and kept (200 ms)") < 3'000);
    CHECK(short_page.p95("a history page of 500 points (200 ms)") < 1'000);
    CHECK(long_page.p95("a history page of 10 000 points (200 ms)") < 3'000);
  });
}
