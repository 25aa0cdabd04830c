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

constexpr std::int64_t run_count = 10'000;
constexpr int metric_count = 100;

template <typename Work>
std::chrono::milliseconds timed(const char* what, const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  const auto took = std::chrono::steady_clock::now() - start;
  std::printf("  %-44s %9.2f ms\n", what, std::chrono::duration<double, std::milli>(took).count());
  return std::chrono::duration_cast<std::chrono::milliseconds>(took);
}

void fill(Store& store) {
  for (std::int64_t i = 0; i < run_count; ++i) {
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
    timed("10 000 runs with 100 values each, written", [&] { fill(*store); });

    std::vector<HistoryPoint> points;
    CHECK(timed("history of 10 000 points", [&] {
            points = must(store->history({"llama", "ddp", "main", "metric.number7", 10'000}));
          }) < std::chrono::seconds(2));
    CHECK(points.size() == 10'000);
    CHECK(points.front().value == 7);
    CHECK(timed("history of 10 000 points, all branches", [&] {
            points = must(store->history({"llama", "ddp", "", "metric.number7", 10'000}));
          }) < std::chrono::seconds(2));
    CHECK(timed("history of the newest 100 points", [&] {
            points = must(store->history({"llama", "ddp", "main", "metric.number7", 100}));
          }) < std::chrono::milliseconds(500));

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
