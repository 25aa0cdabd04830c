// Series in commit order, and what is kept of their levels.
#include "tests/contract/samples.hpp"
#include "tests/contract/store_under_test.hpp"

using namespace traceweir;
using namespace traceweir::contract;
using namespace traceweir::store;

namespace {

const SeriesKey main_key{"llama", "ddp", "main", "a100"};

/// Runs r0 … r5; r2 failed, r3 is no point of the series, r4 of another class, r5 has no value of gpu.idle.
void add_series(Store& store) {
  add_project(store);
  for (std::int64_t i = 0; i < 6; ++i) {
    RunHead head = plain_head("r" + std::to_string(i));
    head.received_at = at(i);
    RunResult result = plain_result(head.id, static_cast<double>(i));
    result.in_series = i != 3;
    result.in_baseline = i != 2 && i != 3;
    if (i == 2) result.outcome = gate::Outcome::fail;
    if (i == 4) result.comparable_key = "h100";
    if (i != 5) result.values.emplace_back("gpu.idle", -static_cast<double>(i));
    result.bands = {{"gpu.utilization", {0.5, 0.4, 0.7}}};
    add_run(store, head, result);
  }
}

std::string runs_of(const Series& series) {
  std::string ids;
  for (const SeriesRun& run : series.runs) ids += (ids.empty() ? "" : " ") + run.run + (run.counts ? "" : "!");
  return ids;
}

Series read(Store& store, std::int64_t limit = 10'000) {
  return must(store.series({main_key, {"gpu.utilization", "gpu.idle"}, at(0), limit}));
}

StoredChange change(const std::string& run, const std::string& previous) {
  StoredChange change;
  change.run = run;
  change.previous_run = previous;
  change.before = 0.1 + 0.2;
  change.after = 2;
  change.magnitude = 5e-324;
  change.p = 1e-300;
  return change;
}

SeriesLevels levels_at(std::int64_t version) {
  SeriesLevels levels;
  levels.key = main_key;
  levels.version = version;
  levels.changes["gpu.utilization"] = {change("r1", "r0"), change("r5", "r2")};
  levels.changes["gpu.utilization"][0].better = true;
  levels.changes["gpu.utilization"][1].better = false;
  levels.changes["gpu.idle"] = {change("r2", "r1")};
  levels.segments["gpu.utilization"] = {{"r0", "r0", 1, 0.25, 0, Began::first},
                                        {"r1", "r5", 2, 0.5, 0.125, Began::improvement}};
  levels.segments["gpu.idle"] = {};
  return levels;
}

HistoryQuery query_of(const std::string& metric) {
  return {.project = "llama", .workload = "ddp", .branch = "main", .metric = metric, .now = at(0)};
}

}  // namespace

TEST_CASE("store: a series is the comparable runs of a branch, failed ones too, with their values") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_series(*store);
    const Series series = read(*store);
    CHECK(runs_of(series) == "r0 r1 r2! r5");
    using Values = std::vector<std::optional<double>>;
    CHECK(series.values.at("gpu.utilization") == Values{0.0, 1.0, 2.0, 5.0});
    CHECK(series.values.at("gpu.idle") == Values{-0.0, -1.0, -2.0, std::nullopt});
    CHECK(series.runs[0].commit == "sha-r0");
    CHECK(series.runs[0].received_at == at(0));
    CHECK_FALSE(series.runs[0].committed_at.has_value());
    CHECK(runs_of(read(*store, 2)) == "r2! r5");
    CHECK(read(*store, 2).values.at("gpu.idle") == Values{-2.0, std::nullopt});
    CHECK(must(store->series({{"llama", "ddp", "topic", "a100"}, {"gpu.idle"}})).runs.empty());
    CHECK(must(store->series({{"bert", "ddp", "main", "a100"}, {"gpu.idle"}})).runs.empty());
    CHECK(runs_of(must(store->series({{"llama", "ddp", "main", "h100"}}))) == "r4");
  });
}

TEST_CASE("store: a series is in commit order, its values with it") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_series(*store);
    const Commit commits[] = {{"sha-r0", {"sha-r1"}, at(7), "", ""}, {"sha-r1", {"sha-r5"}, std::nullopt, "", ""}};
    must(store->put_commits("llama", commits));
    const Series series = read(*store);
    CHECK(runs_of(series) == "r5 r1 r0 r2!");
    using Values = std::vector<std::optional<double>>;
    CHECK(series.values.at("gpu.utilization") == Values{5.0, 1.0, 0.0, 2.0});
    CHECK(series.values.at("gpu.idle") == Values{std::nullopt, -1.0, -0.0, -2.0});
    CHECK(series.runs[2].committed_at == at(7));
  });
}

TEST_CASE("store: levels are kept, and replaced by metric") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_series(*store);
    SeriesLevels put = levels_at(read(*store).version);
    put.told["gpu.utilization"] = {"r5"};
    put.run = "r5";
    put.verdict_json = R"({"notes": ["drift"]})";
    must(store->put_levels(put));
    const Levels found = must(store->levels(query_of("gpu.utilization")));
    REQUIRE(found.changes.size() == 2);
    const StoredChange& second = found.changes[1];
    CHECK(second.run == "r5");
    CHECK(second.commit == "sha-r5");
    CHECK(second.previous_run == "r2");
    CHECK(second.previous_commit == "sha-r2");
    CHECK(second.before == 0.1 + 0.2);
    CHECK(second.after == 2);
    CHECK(second.magnitude == 5e-324);
    CHECK(second.p == 1e-300);
    CHECK(found.changes[0].better == true);
    CHECK(second.better == false);
    CHECK_FALSE(second.accepted);
    CHECK(second.comparable_key == "a100");
    REQUIRE(found.segments.size() == 2);
    CHECK(found.segments[0].began == Began::first);
    CHECK(found.segments[1].began == Began::improvement);
    CHECK(found.segments[1].first_commit == "sha-r1");
    CHECK(found.segments[1].last_run == "r5");
    CHECK(found.segments[1].last_commit == "sha-r5");
    CHECK(found.segments[1].runs == 2);
    CHECK(found.segments[1].level == 0.5);
    CHECK(found.segments[1].noise == 0.125);
    CHECK_FALSE(must(store->levels(query_of("gpu.idle"))).changes.at(0).better.has_value());
    CHECK(must(store->run("llama", "r5"))->verdict_json == put.verdict_json);
    CHECK(read(*store).told.at("gpu.utilization") == std::vector<std::string>{"r5"});
    CHECK(read(*store).told.at("gpu.idle").empty());

    SeriesLevels fewer;
    fewer.key = main_key;
    fewer.version = read(*store).version;
    fewer.changes["gpu.utilization"] = {};
    must(store->put_levels(fewer));
    CHECK(must(store->levels(query_of("gpu.utilization"))).changes.empty());
    CHECK(must(store->levels(query_of("gpu.utilization"))).segments.size() == 2);
    CHECK(must(store->levels(query_of("gpu.idle"))).changes.size() == 1);
    CHECK(read(*store).told.at("gpu.utilization") == std::vector<std::string>{"r5"});
    CHECK(under_test.damage() == "");
  });
}

TEST_CASE("store: levels are filtered like a history") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_series(*store);
    must(store->put_levels(levels_at(read(*store).version)));
    HistoryQuery query = query_of("gpu.idle");
    query.branch.clear();
    CHECK(must(store->levels(query)).changes.size() == 1);
    query.environment = "a100";
    CHECK(must(store->levels(query)).changes.size() == 1);
    query.environment = "h100";
    CHECK(must(store->levels(query)).changes.empty());
    query.environment.clear();
    query.branch = "topic";
    CHECK(must(store->levels(query)).changes.empty());
    query.branch.clear();
    query.workload = "fsdp";
    CHECK(must(store->levels(query)).changes.empty());
  });
}

TEST_CASE("store: what was found in an older state of a series is not kept") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_series(*store);
    std::int64_t version = read(*store).version;
    const auto stale = [&](const char* what) {
      CAPTURE(what);
      CHECK(error_of(store->put_levels(levels_at(version))) == ErrorCode::conflict);
      version = read(*store).version;
    };
    RunResult result = plain_result("r6");
    result.in_series = true;
    add_run(*store, plain_head("r6"), result);
    stale("another run");
    Acceptance acceptance;
    acceptance.id = "a1", acceptance.project = "llama", acceptance.run = "r2", acceptance.reason = "why";
    acceptance.values = {{"gpu.utilization", 2}};
    must(store->accept(acceptance, audit_entry("accepted")));
    stale("an acceptance");
    const Membership membership{"r2", true, {"a1"}};
    must(store->put_memberships(std::span(&membership, 1)));
    stale("another membership");
    must(store->undo_acceptances({"llama", "r2", at(9), ""}, audit_entry("undone")));
    stale("an undoing");
    add_run(*store, plain_head("r7"), plain_result("r7"));
    must(store->put_levels(levels_at(version)));
    CHECK(must(store->levels(query_of("gpu.idle"))).changes.size() == 1);
    SeriesLevels nowhere = levels_at(0);
    nowhere.key.branch = "topic";
    CHECK(error_of(store->put_levels(nowhere)) == ErrorCode::conflict);
  });
}

TEST_CASE("store: an accepted change is one as long as that is in force") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_series(*store);
    Acceptance acceptance;
    acceptance.id = "a1", acceptance.project = "llama", acceptance.run = "r5", acceptance.reason = "why";
    acceptance.values = {{"gpu.utilization", 2}};
    acceptance.until = at(100);
    must(store->accept(acceptance, audit_entry("accepted")));
    const Membership membership{"r5", true, {"a1"}};
    must(store->put_memberships(std::span(&membership, 1)));
    SeriesLevels levels = levels_at(read(*store).version);
    levels.changes["gpu.utilization"][1].acceptance = "a1";
    must(store->put_levels(levels));
    HistoryQuery query = query_of("gpu.utilization");
    const auto newest = [&] { return must(store->history(query)).back(); };
    query.now = at(99);
    CHECK(must(store->levels(query)).changes[1].accepted);
    CHECK_FALSE(must(store->levels(query)).changes[0].accepted);
    CHECK(newest().accepted);
    CHECK(newest().in_baseline);
    CHECK(must(store->series({main_key, {}, at(99)})).runs.back().counts);
    query.now = at(100);
    CHECK_FALSE(must(store->levels(query)).changes[1].accepted);
    CHECK_FALSE(newest().accepted);
    CHECK_FALSE(newest().in_baseline);
    CHECK_FALSE(must(store->series({main_key, {}, at(100)})).runs.back().counts);
    query.metric = "gpu.idle";
    query.now = at(99);
    CHECK_FALSE(newest().accepted);
  });
}

TEST_CASE("store: a history says what its points are") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_series(*store);
    const Commit commits[] = {{"sha-r5", {}, at(7), "fifth \"one\"", "änn"}};
    must(store->put_commits("llama", commits));
    const auto points = must(store->history(query_of("gpu.utilization")));
    REQUIRE(points.size() == 6);
    CHECK(points[5].subject == "fifth \"one\"");
    CHECK(points[5].author == "änn");
    CHECK(points[0].subject == "");
    CHECK(points[0].in_baseline);
    CHECK_FALSE(points[2].in_baseline);
    CHECK_FALSE(points[2].superseded);
    CHECK(points[0].band == gate::NoiseBand{0.5, 0.4, 0.7});
    CHECK_FALSE(must(store->history(query_of("gpu.idle")))[0].band.has_value());
    HistoryQuery query = query_of("gpu.utilization");
    query.environment = "h100";
    REQUIRE(must(store->history(query)).size() == 1);
    CHECK(must(store->history(query))[0].run == "r4");
    query.environment = "a100";
    query.limit = 2;
    CHECK(must(store->history(query))[0].run == "r3");
  });
}
