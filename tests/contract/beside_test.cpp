// Runs of one commit that are judged at the same time: their verdicts come one after the other, each knowing all before
// it.
#include <algorithm>
#include <thread>

#include "tests/contract/samples.hpp"
#include "tests/contract/store_under_test.hpp"

using namespace traceweir;
using namespace traceweir::contract;
using namespace traceweir::store;

namespace {

void begin_upload(Store& store, std::string_view id, std::string_view commit = "c1",
                  std::string_view workload = "ddp") {
  RunHead head = plain_head(id);
  head.commit = commit;
  head.workload = workload;
  must(store.begin_run(head, upload_of(id)));
}

RunResult beside(std::string_view id, std::int64_t judged) {
  RunResult result = plain_result(id);
  result.beside = judged;
  return result;
}

RunStatus status_of(Store& store, std::string_view id) { return must(store.run("llama", id)).value().status; }

std::int64_t judged_of(Store& store) {
  const auto runs = must(store.runs_of_commit("llama", "ddp", "c1", Documents::none));
  return std::count_if(runs.begin(), runs.end(), [](const RunRecord& run) { return run.status == RunStatus::judged; });
}

/// Finishes the run as the service does: where another one was finished meanwhile, it looks again. Returns how many it
/// knew of.
std::int64_t finish(Store& store, const std::string& id) {
  for (;;) {
    const std::int64_t known = judged_of(store);
    const auto done = store.finish_run(beside(id, known));
    if (done) return known;
    REQUIRE(done.error().code == ErrorCode::conflict);
  }
}

}  // namespace

TEST_CASE("store: a verdict that does not know all others of its commit is refused, and the run stays open") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    for (const char* id : {"r1", "r2", "r3", "r4"}) begin_upload(*store, id);
    must(store->finish_run(beside("r1", 0)));
    const auto refused = store->finish_run(beside("r2", 0));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::conflict);
    CHECK(status_of(*store, "r2") == RunStatus::analysing);
    CHECK_FALSE(store->finish_run(beside("r2", 2)));
    must(store->finish_run(beside("r2", 1)));
    // Why: a rejected run says nothing of the others, and no other has to know it.
    RunResult rejected;
    rejected.run = "r3";
    rejected.status = RunStatus::rejected;
    must(store->finish_run(rejected));
    must(store->finish_run(beside("r4", 2)));
  });
}

TEST_CASE("store: runs of other commits, workloads and projects need not be known") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    add_project(*store, "bert");
    begin_upload(*store, "r1", "c2");
    begin_upload(*store, "r2", "c1", "fsdp");
    RunHead elsewhere = plain_head("r3");
    elsewhere.project = "bert";
    elsewhere.commit = "c1";
    add_run(*store, elsewhere, plain_result("r3"));
    for (const char* id : {"r1", "r2"}) must(store->finish_run(plain_result(id)));
    begin_upload(*store, "r4");
    must(store->finish_run(beside("r4", 0)));
  });
}

TEST_CASE("store: of runs that are finished at once each knows all that were finished before") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    constexpr int count = 8;
    for (int i = 0; i < count; ++i) begin_upload(*store, "r" + std::to_string(i));
    std::vector<std::int64_t> known(count, -1);
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i)
      threads.emplace_back([&, i] { known[static_cast<std::size_t>(i)] = finish(*store, "r" + std::to_string(i)); });
    for (std::thread& thread : threads) thread.join();
    std::sort(known.begin(), known.end());
    for (int i = 0; i < count; ++i) CHECK(known[static_cast<std::size_t>(i)] == i);
  });
}
