// Measurements over months: they are kept and found whenever their runs were received, and old ones go.
#include <thread>

#include "server/store/tables.hpp"
#include "tests/contract/postgres_under_test.hpp"
#include "tests/contract/samples.hpp"
#include "tests/contract/store_under_test.hpp"

using namespace traceweir;
using namespace traceweir::contract;
using namespace traceweir::store;

namespace {

constexpr std::int64_t day = 86'400;

void add_run_at(Store& store, const std::string& id, std::int64_t seconds) {
  RunHead head = plain_head(id);
  head.received_at = at(seconds);
  add_run(store, head, plain_result(id, static_cast<double>(seconds)));
}

std::string runs_in_history(Store& store) {
  std::string text;
  for (const HistoryPoint& point : must(store.history({"llama", "ddp", "main", "gpu.utilization", 100})))
    text += (text.empty() ? "" : " ") + point.run;
  return text;
}

std::vector<BaselineRow> baseline(Store& store) {
  return must(store.baseline({.project = "llama", .workload = "ddp", .branch = "main", .comparable_key = "a100"}));
}

constexpr const char* count_months = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'measurement'::regclass";

}  // namespace

TEST_CASE("months: values are found whenever their runs were received, newest first, also where a clock went back") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    const std::int64_t times[] = {0, 40 * day, 400 * day, 35 * day, -3'000 * day, 90 * day};
    for (int i = 0; i < 6; ++i) add_run_at(*store, "r" + std::to_string(i), times[i]);
    CHECK(runs_in_history(*store) == "r0 r1 r2 r3 r4 r5");
    CHECK(must(store->history({"llama", "ddp", "main", "gpu.utilization", 2})).front().run == "r4");
    const auto rows = baseline(*store);
    REQUIRE(rows.size() == 6);
    for (int i = 0; i < 6; ++i) {
      CHECK(rows[static_cast<std::size_t>(i)].run == "r" + std::to_string(5 - i));
      CHECK(rows[static_cast<std::size_t>(i)].values.at("gpu.utilization") == static_cast<double>(times[5 - i]));
    }
    CHECK(under_test.damage() == "");
  });
}

TEST_CASE("months: old measurements go, to the microsecond, and nothing else does") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    for (int i = 0; i < 10; ++i) add_run_at(*store, "r" + std::to_string(i), i * 20 * day);
    must(store->drop_measurements_before(at(-1'000 * day)));
    CHECK(runs_in_history(*store) == "r0 r1 r2 r3 r4 r5 r6 r7 r8 r9");
    must(store->drop_measurements_before(at(5 * 20 * day)));
    CHECK(runs_in_history(*store) == "r5 r6 r7 r8 r9");
    must(store->drop_measurements_before(at(5 * 20 * day) + std::chrono::microseconds{1}));
    CHECK(runs_in_history(*store) == "r6 r7 r8 r9");
    CHECK(must(store->runs({.project = "llama"})).size() == 10);
    CHECK(baseline(*store).size() == 10);
    CHECK(baseline(*store).back().values.empty());
    must(store->drop_measurements_before(at(1'000 * day)));
    CHECK(runs_in_history(*store) == "");
    add_run_at(*store, "late", 0);  // of a month that is gone
    CHECK(runs_in_history(*store) == "late");
    CHECK(under_test.damage() == "");
  });
}

TEST_CASE("months: many results of a month that is not there yet, at once") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    std::vector<std::string> problems(8);
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&, i] {
        RunHead head = plain_head("r" + std::to_string(i));
        head.received_at = at(i % 2 * 700 * day + i);
        const auto begun = store->begin_run(head, upload_of("blob"));
        const auto done = begun ? store->finish_run(plain_result(head.id)) : tl::unexpected(begun.error());
        if (!done) problems[static_cast<std::size_t>(i)] = done.error().message;
      });
    for (std::thread& thread : threads) thread.join();
    CHECK(problems == std::vector<std::string>(8));
    CHECK(must(store->history({"llama", "ddp", "main", "gpu.utilization", 100})).size() == 8);
  });
}

TEST_CASE("months: the next one is made ahead, and whole old ones are dropped") {
  const auto under_test = make_postgres_under_test();
  const auto store = under_test->open();
  CHECK(ask_postgres(under_test->url(), count_months) == "2");  // this one and the next
  add_project(*store);
  add_run_at(*store, "r0", -4'000 * day);
  add_run_at(*store, "r1", -4'000 * day + 100);
  CHECK(ask_postgres(under_test->url(), count_months) == "4");
  must(store->drop_measurements_before(at(-3'900 * day)));
  CHECK(ask_postgres(under_test->url(), count_months) == "2");
}

// Why: making a table as a part of another one waits for whoever reads that, and a backup reads for minutes.
TEST_CASE("months: a result of a new month does not wait for a backup") {
  const auto under_test = make_postgres_under_test();
  const auto store = under_test->open();
  add_project(*store);
  add_run_at(*store, "r0", 0);
  const auto snapshot = must(open_snapshot(under_test->url()));
  for (const TableShape& table : snapshot->tables())
    must(snapshot->read(table, [](const Row&) -> Result<void> { return {}; }));
  add_run_at(*store, "r1", 700 * day);
  CHECK(runs_in_history(*store) == "r0 r1");
}
