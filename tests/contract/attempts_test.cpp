// A later attempt of a CI job supersedes the earlier ones, in whatever order their results come.
#include <optional>
#include <thread>

#include "server/store/run_group.hpp"
#include "tests/contract/samples.hpp"
#include "tests/contract/store_under_test.hpp"

using namespace traceweir;
using namespace traceweir::contract;
using namespace traceweir::store;

namespace {

RunHead attempt_of(std::string_view id, std::int64_t attempt) {
  RunHead head = plain_head(id);
  head.commit = "c1";
  head.ci_run = "ci-1";
  head.job = "bench";
  head.matrix = "a100";
  head.attempt = attempt;
  return head;
}

/// Finishes the runs in this order; they were begun in the order of their ids.
void finish_in_order(Store& store, std::string_view order) {
  for (const char digit : order) must(store.finish_run(plain_result(std::string("r") + digit)));
}

/// The ids of the superseded runs; that these, and only these, are out of the baseline is checked.
std::string superseded(Store& store) {
  std::string ids, in_baseline;
  for (const RunRecord& run : must(store.runs({.project = "llama"}))) {
    if (run.superseded) ids += run.head.id + " ";
    if (run.status != RunStatus::judged) continue;
    CHECK(run.in_baseline == !run.superseded);
    if (run.in_baseline) in_baseline += (in_baseline.empty() ? "" : " ") + run.head.id;
  }
  CHECK(ids_of(must(store.baseline(
            {.project = "llama", .workload = "ddp", .branch = "main", .comparable_key = "a100"}))) == in_baseline);
  return ids;
}

}  // namespace

TEST_CASE("store: the highest judged attempt stands, whatever is finished first") {
  for (const char* order : {"123", "321", "213", "312", "132", "231"})
    on_each_store([&](StoreUnderTest& under_test) {
      CAPTURE(order);
      const auto store = under_test.open();
      add_project(*store);
      for (int i = 1; i <= 3; ++i) {
        const std::string id = "r" + std::to_string(i);
        must(store->begin_run(attempt_of(id, i), upload_of(id)));
      }
      finish_in_order(*store, order);
      CHECK(superseded(*store) == "r2 r1 ");
      CHECK(must(store->run("llama", "r1")).value().superseded);
      CHECK(must(store->runs_of_commit("llama", "ddp", "c1", Documents::none)).at(1).superseded);
      CHECK_FALSE(must(store->run("llama", "r3")).value().superseded);
    });
}

TEST_CASE("store: an attempt without a verdict supersedes nothing") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    for (int i = 1; i <= 3; ++i) must(store->begin_run(attempt_of("r" + std::to_string(i), i), upload_of("blob")));
    finish_in_order(*store, "1");
    CHECK(superseded(*store) == "");
    RunResult rejected;
    rejected.run = "r2";
    rejected.status = RunStatus::rejected;
    must(store->finish_run(rejected));
    CHECK(superseded(*store) == "");
    finish_in_order(*store, "3");
    CHECK(must(store->run("llama", "r1")).value().superseded);
  });
}

TEST_CASE("store: what is no later attempt of the same job supersedes nothing") {
  struct Row {
    const char* what;
    void (*change)(RunHead&);
    bool superseded;
  };
  const Row rows[] = {
      {"a later attempt", [](RunHead&) {}, true},
      {"on another branch", [](RunHead& head) { head.branch = "topic"; }, true},
      {"the same attempt: a further sample", [](RunHead& head) { head.attempt = 1; }, false},
      {"another CI run", [](RunHead& head) { head.ci_run = "ci-2"; }, false},
      {"another job", [](RunHead& head) { head.job = "other"; }, false},
      {"another matrix", [](RunHead& head) { head.matrix = ""; }, false},
      {"another commit", [](RunHead& head) { head.commit = "c2"; }, false},
      {"another workload", [](RunHead& head) { head.workload = "fsdp"; }, false},
      {"another project", [](RunHead& head) { head.project = "bert"; }, false},
  };
  for (const Row& row : rows)
    on_each_store([&](StoreUnderTest& under_test) {
      CAPTURE(row.what);
      const auto store = under_test.open();
      add_project(*store);
      add_project(*store, "bert");
      RunHead second = attempt_of("r2", 2);
      row.change(second);
      add_run(*store, attempt_of("r1", 1), plain_result("r1"));
      add_run(*store, second, plain_result("r2"));
      // Why: an upload may also come late, when the later attempt has its verdict.
      add_run(*store, attempt_of("late", 1), plain_result("late"));
      for (const char* id : {"r1", "late"}) {
        CHECK(must(store->run("llama", id)).value().superseded == row.superseded);
        CHECK(must(store->run("llama", id)).value().in_baseline == !row.superseded);
      }
    });
}

TEST_CASE("store: runs of no CI run are samples, whatever their attempts") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    for (int i = 1; i <= 2; ++i) {
      RunHead head = attempt_of("r" + std::to_string(i), i);
      head.ci_run.clear();
      add_run(*store, head, plain_result(head.id));
    }
    CHECK(superseded(*store) == "");
  });
}

TEST_CASE("store: attempts that are finished at once see each other") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    for (int round = 0; round < 10; ++round) {
      CAPTURE(round);
      std::vector<std::thread> threads;
      std::vector<Result<void>> done(6);
      for (int attempt = 1; attempt <= 6; ++attempt) {
        RunHead head = attempt_of(std::to_string(round) + "-" + std::to_string(attempt), attempt);
        head.ci_run = "ci-" + std::to_string(round);
        must(store->begin_run(head, upload_of(head.id)));
        threads.emplace_back([&store, &end = done[static_cast<std::size_t>(attempt - 1)], id = head.id] {
          end = store->finish_run(plain_result(id));
        });
      }
      for (std::thread& thread : threads) thread.join();
      for (const auto& end : done) must(end);
      for (int attempt = 1; attempt <= 6; ++attempt)
        CHECK(must(store->run("llama", std::to_string(round) + "-" + std::to_string(attempt))).value().superseded ==
              (attempt < 6));
    }
  });
}

TEST_CASE("store: what is sent of a change takes the place of nothing that is not of this change") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    const auto begin = [&](const char* id, std::int64_t attempt, std::optional<std::int64_t> pull_request, bool fork) {
      RunHead head = attempt_of(id, attempt);
      head.run_key = "the same";
      head.pull_request = pull_request;
      head.fork = fork;
      must(store->begin_run(head, upload_of(id)));
    };
    begin("r1", 1, std::nullopt, false);
    begin("r2", 2, 12, false);
    begin("r3", 3, 13, false);
    begin("r4", 4, std::nullopt, true);
    begin("r5", 5, 12, true);
    finish_in_order(*store, "12345");
    CHECK(superseded(*store) == "");
    begin("r6", 6, 12, false);
    finish_in_order(*store, "6");
    CHECK(superseded(*store) == "r2 ");
  });
}

TEST_CASE("store: ranks of a change are no ranks of a branch's run, or of another change's") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    std::int64_t rank = 0;
    const auto join = [&](const char* id, std::optional<std::int64_t> pull_request, bool fork) {
      RunHead head = attempt_of(id, 1);
      head.run_key = "the same";
      head.ranks_expected = 9;
      head.pull_request = pull_request;
      head.fork = fork;
      head.group = group_of(head);
      Upload upload = upload_of(id);
      upload.rank = rank++;
      return must(store->begin_run(head, upload)).run;
    };
    CHECK(join("r1", std::nullopt, false) == "r1");
    CHECK(join("r2", 12, false) == "r2");
    CHECK(join("r3", std::nullopt, true) == "r3");
    CHECK(join("r4", 12, true) == "r4");
    CHECK(join("r5", std::nullopt, false) == "r1");
    CHECK(join("r6", 12, false) == "r2");
    CHECK(join("r7", 13, false) == "r7");
  });
}

TEST_CASE("store: with the attempt that superseded them the lower ones stand again, the highest of them") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    for (int i = 1; i <= 3; ++i) must(store->begin_run(attempt_of("r" + std::to_string(i), i), upload_of("blob")));
    finish_in_order(*store, "123");
    const auto is_superseded = [&](const char* id) { return must(store->run("llama", id)).value().superseded; };
    must(store->delete_run("llama", "r3", {at(90), "llama", "t", "run_deleted", "r3"}));
    CHECK(is_superseded("r1"));
    CHECK_FALSE(is_superseded("r2"));
    const Membership standing{"r2", true, {}, true};
    must(store->put_memberships({&standing, 1}));
    CHECK(must(store->run("llama", "r2")).value().in_baseline);
    SeriesQuery query;
    query.key = {"llama", "ddp", "main", "a100"};
    const auto series = must(store->series(query));
    REQUIRE(series.runs.size() == 1);
    CHECK(series.runs[0].run == "r2");
    must(store->delete_run("llama", "r2", {at(91), "llama", "t", "run_deleted", "r2"}));
    CHECK_FALSE(is_superseded("r1"));
  });
}
