// A million measurements: how long the questions of the gate and of a history page take. The times are printed; the
// bounds are wide, since they only have to tell a range scan from a walk through everything.
#include <chrono>
#include <cstdio>

#include "tests/contract/samples.hpp"
#include "tests/contract/store_under_test.hpp"

using namespace traceweir;
using namespace traceweir::contract;
using namespace traceweir::store;

namespace {

constexpr int first_count = 20, run_count = 10'000, metric_count = 100;

/// Copies of the first run: the verbs write one run after the other to the disk, which is not what is asked here.
/// Ordered as the table is, so that it grows at its end.
constexpr const char* copy_runs = R"(
BEGIN;
INSERT INTO run (id, project_id, lane_id, commit_sha, base_branch, head_sha, base_sha, fork, attempt, ci_run, job,
                 matrix, job_url, run_key, ranks_expected, steps_glob, window_kind, policy_sha256, token_id, received_us,
                 status, outcome, comparable_key, in_baseline, error_code, error_message, finished_us)
WITH RECURSIVE number (n) AS (SELECT 20 UNION ALL SELECT n + 1 FROM number WHERE n + 1 < 10000)
SELECT 'run-' || n, project_id, lane_id, 'sha-run-' || n, base_branch, head_sha, base_sha, fork, attempt, ci_run, job,
       matrix, job_url, run_key, ranks_expected, steps_glob, window_kind, policy_sha256, token_id, received_us + n,
       status, outcome, comparable_key, in_baseline, error_code, error_message, finished_us
FROM run CROSS JOIN number WHERE id = 'run-0' ORDER BY n;
INSERT INTO measurement (lane_id, metric_id, run_seq, received_us, value)
SELECT r.lane_id, m.id, r.seq, r.received_us, r.seq - 1 + m.id - 1
FROM metric m CROSS JOIN run r WHERE r.seq > 20 ORDER BY m.id, r.seq;
COMMIT;
)";

template <typename Work>
std::chrono::milliseconds timed(const char* what, const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  const auto took = std::chrono::steady_clock::now() - start;
  std::printf("  %-44s %9.2f ms\n", what, std::chrono::duration<double, std::milli>(took).count());
  return std::chrono::duration_cast<std::chrono::milliseconds>(took);
}

void fill(Store& store) {
  for (std::int64_t i = 0; i < first_count; ++i) {
    const std::string id = "run-" + std::to_string(i);
    RunHead head = full_head(id);
    head.received_at = at(i);
    RunResult result = full_result(id);
    result.values.clear();
    for (int m = 0; m < metric_count; ++m)
      result.values.emplace_back("metric.number" + std::to_string(m), static_cast<double>(i + m));
    add_run(store, head, result);
  }
}

}  // namespace

TEST_CASE("store: a million measurements") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    timed("20 runs with 100 values each, one by one", [&] { fill(*store); });
    timed("9 980 more, in one go", [&] { under_test.execute(copy_runs); });

    std::vector<HistoryPoint> points;
    CHECK(timed("history of 10 000 points", [&] {
            points = must(store->history({"llama", "ddp", "main", "metric.number7", 10'000}));
          }) < std::chrono::seconds(2));
    CHECK(points.size() == 10'000);
    CHECK(points.front().value == 7);
    CHECK(points.back().value == 10'006);
    CHECK(timed("history of 10 000 points, all branches", [&] {
            points = must(store->history({"llama", "ddp", "", "metric.number7", 10'000}));
          }) < std::chrono::seconds(2));
    CHECK(timed("history of the newest 100 points", [&] {
            points = must(store->history({"llama", "ddp", "main", "metric.number7", 100}));
          }) < std::chrono::milliseconds(500));

    // Why: the worst order of receipt is the reverse of the commits, with a commit that was not measured after each.
    std::vector<Commit> commits;
    for (int i = 0; i < run_count; ++i) {
      const std::string sha = "sha-run-" + std::to_string(i), between = "between-" + std::to_string(i);
      commits.push_back({sha, {between}, std::nullopt, "", ""});
      commits.push_back({between, {"sha-run-" + std::to_string(i + 1)}, std::nullopt, "", ""});
    }
    timed("20 000 commits are put", [&] { must(store->put_commits("llama", commits)); });
    CHECK(timed("history of 10 000 points, all out of order", [&] {
            points = must(store->history({"llama", "ddp", "main", "metric.number7", 10'000}));
          }) < std::chrono::seconds(2));
    CHECK(points.size() == 10'000);
    CHECK(points.front().value == 10'006);
    CHECK(points.back().value == 7);

    BaselineQuery query{.project = "llama", .workload = "ddp", .branch = "main", .comparable_key = "a100"};
    std::vector<BaselineRow> rows;
    CHECK(timed("baseline: newest 100 runs, 100 values each", [&] { rows = must(store->baseline(query)); }) <
          std::chrono::seconds(2));
    CHECK(rows.size() == 100);
    CHECK(rows.front().values.size() == metric_count);
    for (int i = 0; i < 200; ++i) query.commits.push_back("sha-run-" + std::to_string(i * 50));
    CHECK(timed("baseline: of 200 commits", [&] { rows = must(store->baseline(query)); }) < std::chrono::seconds(2));
    CHECK(rows.size() == 100);
    query.comparable_key = "new";
    CHECK(timed("runs of another class, counted", [&] { CHECK(must(store->other_class_runs(query)) == run_count); }) <
          std::chrono::seconds(2));
    CHECK(timed("list of the newest 200 runs", [&] {
            CHECK(must(store->runs({.project = "llama", .limit = 200})).size() == 200);
          }) < std::chrono::seconds(2));
  });
}
