// Baselines and histories.
#include "tests/contract/samples.hpp"
#include "tests/contract/store_under_test.hpp"

using namespace traceweir;
using namespace traceweir::contract;
using namespace traceweir::store;

namespace {

/// Ten runs r0 … r9 of commits c0 … c9; r3 is in another class, r4 never in a baseline, r5 of another branch, r6 of
/// another workload, r7 of commit c2 again.
void add_ten_runs(Store& store) {
  for (std::int64_t i = 0; i < 10; ++i) {
    const std::string id = "r" + std::to_string(i);
    RunHead head = plain_head(id);
    head.commit = "c" + std::to_string(i == 7 ? 2 : i);
    head.branch = i == 5 ? "topic" : "main";
    head.workload = i == 6 ? "fsdp" : "ddp";
    head.received_at = at(i);
    RunResult result = plain_result(id, static_cast<double>(i));
    result.comparable_key = i == 3 ? "h100" : "a100";
    result.in_baseline = i != 4;
    result.values.emplace_back("gpu.idle", -static_cast<double>(i));
    add_run(store, head, result);
  }
}

const BaselineQuery everything{.project = "llama", .workload = "ddp", .branch = "main", .comparable_key = "a100"};

BaselineQuery with(void (*change)(BaselineQuery&)) {
  BaselineQuery query = everything;
  change(query);
  return query;
}

}  // namespace

// Why: a verdict needs a few of a run's hundred values; the others cost as much to read.
TEST_CASE("store: a baseline has the values of the metrics that are asked for, else of all") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    add_ten_runs(*store);
    const auto all = must(store->baseline(everything));
    const auto some = must(store->baseline(with([](auto& q) { q.metrics = {"gpu.idle", "no.such"}; })));
    REQUIRE(all.size() == 6);
    REQUIRE(some.size() == all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      CHECK(all[i].values.size() > 1);
      CHECK(some[i].run == all[i].run);
      CHECK(some[i].values == std::map<std::string, double>{{"gpu.idle", all[i].values.at("gpu.idle")}});
    }
  });
}

TEST_CASE("store: a baseline is the newest comparable runs of the branch") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    add_ten_runs(*store);
    must(store->begin_run(plain_head("unfinished"), upload_of("blob")));
    struct Row {
      const char* what;
      BaselineQuery query;
      const char* want;
    };
    const Row rows[] = {
        {"all", everything, "r9 r8 r7 r2 r1 r0"},
        {"limit", with([](auto& q) { q.limit = 2; }), "r9 r8"},
        {"no limit is not all", with([](auto& q) { q.limit = -1; }), ""},
        {"the run's own commit is excluded, with all its runs", with([](auto& q) { q.not_commit = "c2"; }),
         "r9 r8 r1 r0"},
        {"only earlier runs", with([](auto& q) { q.before_run = "r8"; }), "r7 r2 r1 r0"},
        {"nothing is before an unknown run", with([](auto& q) { q.before_run = "r99"; }), ""},
        {"another class", with([](auto& q) { q.comparable_key = "h100"; }), "r3"},
        {"no such class", with([](auto& q) { q.comparable_key = ""; }), ""},
        {"another branch", with([](auto& q) { q.branch = "topic"; }), "r5"},
        {"another workload", with([](auto& q) { q.workload = "fsdp"; }), "r6"},
        {"another project", with([](auto& q) { q.project = "bert"; }), ""},
        {"of these commits", with([](auto& q) {
           q.commits = {"c1", "c2", "c9", "c2", "c77"};
         }),
         "r1 r7 r2 r9"},
        {"of these commits, limited", with([](auto& q) {
           q.commits = {"c1", "c2", "c9"};
           q.limit = 2;
         }),
         "r1 r7"},
        {"of these commits, without a limit", with([](auto& q) {
           q.commits = {"c1", "c2"};
           q.limit = -1;
         }),
         ""},
        {"of these commits, but not the own and only earlier", with([](auto& q) {
           q.commits = {"c0", "c1", "c2", "c9"};
           q.not_commit = "c1";
           q.before_run = "r7";
         }),
         "r0 r2"},
        {"of these commits: class, branch, workload and baseline still count", with([](auto& q) {
           q.commits = {"c3", "c4", "c5", "c6"};
         }),
         ""},
    };
    for (const Row& row : rows) {
      CAPTURE(row.what);
      CHECK(ids_of(must(store->baseline(row.query))) == row.want);
    }
  });
}

TEST_CASE("store: a baseline brings every value of its runs") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    add_ten_runs(*store);
    const auto rows = must(store->baseline(with([](auto& q) { q.limit = 2; })));
    REQUIRE(rows.size() == 2);
    CHECK(rows[1].run == "r8");
    CHECK(rows[1].commit == "c8");
    CHECK(rows[1].values == std::map<std::string, double>{{"gpu.utilization", 8.0}, {"gpu.idle", -8.0}});
  });
}

TEST_CASE("store: values are kept to the bit") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    add_run(*store, full_head("r1"), full_result("r1"));
    const auto rows = must(store->baseline(everything));
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].values.at("gpu.utilization") == 0.1 + 0.2);
    CHECK(rows[0].values.at("step.time_p50") == 61'728'394.5);
    CHECK(rows[0].values.at("custom.tiny") == 5e-324);
  });
}

TEST_CASE("store: baseline runs of another class are counted") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    add_ten_runs(*store);
    const auto count = [&](const BaselineQuery& query) { return must(store->other_class_runs(query)); };
    CHECK(count(everything) == 1);
    CHECK(count(with([](auto& q) { q.comparable_key = "h100"; })) == 6);
    CHECK(count(with([](auto& q) { q.comparable_key = "new"; })) == 7);
    CHECK(count(with([](auto& q) {
            q.comparable_key = "new";
            q.limit = 1;
            q.commits = {"c0"};
          })) == 7);
    CHECK(count(with([](auto& q) {
            q.comparable_key = "new";
            q.not_commit = "c2";
            q.before_run = "r9";
          })) == 4);
    CHECK(count(with([](auto& q) { q.branch = "none"; })) == 0);
  });
}

TEST_CASE("store: a history is the newest points, oldest first, with what a plot needs") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    add_ten_runs(*store);
    const Commit commit{"c9", {}, at(-5), "ninth", "ann"};
    must(store->put_commits("llama", std::span(&commit, 1)));
    const auto values = [&](const HistoryQuery& query) {
      std::vector<double> found;
      for (const HistoryPoint& point : must(store->history(query))) found.push_back(point.value);
      return found;
    };
    using Values = std::vector<double>;
    CHECK(values({"llama", "ddp", "main", "gpu.utilization", 10'000}) == Values{0, 1, 2, 3, 4, 7, 8, 9});
    CHECK(values({"llama", "ddp", "main", "gpu.utilization", 3}) == Values{7, 8, 9});
    CHECK(values({"llama", "ddp", "main", "gpu.utilization", 0}) == Values{});
    CHECK(values({"llama", "ddp", "", "gpu.utilization", 10'000}) == Values{0, 1, 2, 3, 4, 5, 7, 8, 9});
    CHECK(values({"llama", "ddp", "", "gpu.utilization", 5}) == Values{4, 5, 7, 8, 9});
    CHECK(values({"llama", "fsdp", "main", "gpu.idle", 10'000}) == Values{-6});
    CHECK(values({"llama", "ddp", "main", "unknown", 10'000}) == Values{});
    CHECK(values({"bert", "ddp", "main", "gpu.utilization", 10'000}) == Values{});

    const HistoryPoint newest = must(store->history({"llama", "ddp", "", "gpu.idle", 1})).at(0);
    CHECK(newest.run == "r9");
    CHECK(newest.commit == "c9");
    CHECK(newest.branch == "main");
    CHECK(newest.comparable_key == "a100");
    CHECK(newest.committed_at == at(-5));
    CHECK(newest.uploaded_at == at(9));
    CHECK(newest.outcome == gate::Outcome::pass);
    const HistoryPoint oldest = must(store->history({"llama", "ddp", "", "gpu.idle", 10'000})).at(0);
    CHECK_FALSE(oldest.committed_at.has_value());
  });
}
