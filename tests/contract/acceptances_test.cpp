// Acceptances, and the runs that count only because of one.
#include <fmt/format.h>

#include "server/store/descendants.hpp"
#include "tests/contract/samples.hpp"
#include "tests/contract/store_under_test.hpp"

using namespace traceweir;
using namespace traceweir::contract;
using namespace traceweir::store;

namespace {

Acceptance acceptance_of(const std::string& run, const std::string& id) {
  Acceptance acceptance;
  acceptance.id = id;
  acceptance.project = "llama";
  acceptance.run = run;
  acceptance.values = {{"gpu.utilization", 0.1 + 0.2}};
  acceptance.reason = "larger \"batch\"\n";
  acceptance.author = "änn";
  acceptance.token = "tok1";
  acceptance.created_at = at(100);
  return acceptance;
}

/// Runs r0 … r4 of commits sha-r0 … sha-r4; r3 and r4 failed.
void add_runs(Store& store) {
  add_project(store);
  for (std::int64_t i = 0; i < 5; ++i) {
    RunHead head = plain_head("r" + std::to_string(i));
    head.received_at = at(i);
    RunResult result = plain_result(head.id, static_cast<double>(i));
    result.in_series = true;
    result.in_baseline = i < 3;
    if (i >= 3) result.outcome = gate::Outcome::fail;
    add_run(store, head, result);
  }
}

std::string baseline(Store& store, Timestamp now, Leaning leaning = Leaning::while_in_force) {
  return ids_of(must(store.baseline({.project = "llama",
                                     .workload = "ddp",
                                     .branch = "main",
                                     .comparable_key = "a100",
                                     .now = now,
                                     .leaning = leaning})));
}

std::string acceptance_ids(const std::vector<Acceptance>& acceptances) {
  std::string ids;
  for (const Acceptance& acceptance : acceptances) ids += (ids.empty() ? "" : " ") + acceptance.id;
  return ids;
}

void lean(Store& store, const std::string& run, const std::vector<std::string>& acceptances) {
  const Membership membership{run, true, acceptances};
  must(store.put_memberships(std::span(&membership, 1)));
}

}  // namespace

TEST_CASE("store: an acceptance is kept with everything that was said") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_runs(*store);
    Acceptance acceptance = acceptance_of("r3", "a1");
    acceptance.until = at(200);
    must(store->accept(acceptance, audit_entry("accepted")));
    acceptance = acceptance_of("r4", "a2");
    acceptance.every_metric = true;
    must(store->accept(acceptance, audit_entry("accepted")));
    const auto found = must(store->acceptances({.project = "llama"}));
    REQUIRE(acceptance_ids(found) == "a2 a1");
    CHECK(found[0].every_metric);
    CHECK_FALSE(found[0].until.has_value());
    const Acceptance& read = found[1];
    CHECK(read.run == "r3");
    CHECK_FALSE(read.every_metric);
    CHECK(read.values == std::map<std::string, double>{{"gpu.utilization", 0.1 + 0.2}});
    CHECK(read.reason == "larger \"batch\"\n");
    CHECK(read.author == "änn");
    CHECK(read.token == "tok1");
    CHECK(read.created_at == at(100));
    CHECK(read.until == at(200));
    CHECK_FALSE(read.undone_at.has_value());
    CHECK(read.workload == "ddp");
    CHECK(read.branch == "main");
    CHECK(read.commit == "sha-r3");
    CHECK(read.comparable_key == "a100");
    CHECK(read.run_received_at == at(3));
    CHECK(must(store->run("llama", "r3"))->acceptances.size() == 1);
    CHECK(must(store->run("llama", "r0"))->acceptances.empty());
    CHECK(must(store->audit("llama", 10)).front().action == "accepted");
    CHECK(under_test.damage() == "");
  });
}

TEST_CASE("store: acceptances are filtered") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_runs(*store);
    Acceptance acceptance = acceptance_of("r3", "a1");
    acceptance.until = at(200);
    must(store->accept(acceptance, audit_entry("accepted")));
    must(store->accept(acceptance_of("r3", "a2"), audit_entry("accepted")));
    must(store->accept(acceptance_of("r4", "a3"), audit_entry("accepted")));
    const Commit commits[] = {{"merge", {"main-tip", "sha-r3"}, std::nullopt, "", ""}};
    must(store->put_commits("llama", commits));
    const auto ids = [&](const AcceptanceFilter& filter) { return acceptance_ids(must(store->acceptances(filter))); };
    CHECK(ids({.project = "llama"}) == "a3 a2 a1");
    CHECK(ids({.project = "llama", .limit = 2}) == "a3 a2");
    CHECK(ids({.project = "bert"}) == "");
    CHECK(ids({.project = "llama", .run = "r3"}) == "a2 a1");
    CHECK(ids({.project = "llama", .workload = "ddp", .comparable_key = "a100"}) == "a3 a2 a1");
    CHECK(ids({.project = "llama", .workload = "fsdp"}) == "");
    CHECK(ids({.project = "llama", .comparable_key = "h100"}) == "");
    CHECK(ids({.project = "llama", .in_force_at = at(199)}) == "a3 a2 a1");
    CHECK(ids({.project = "llama", .in_force_at = at(200)}) == "a3 a2");
    const auto in_force = must(store->acceptances({.project = "llama", .run = "r3", .in_force_at = at(0)}));
    CHECK(in_force[0].children == std::vector<std::string>{"merge"});
    // Through further commits, nearest first; a graph that somebody made up may be a circle.
    const Commit further[] = {{"after", {"merge"}, std::nullopt, "", ""},
                              {"other", {"elsewhere", "after"}, std::nullopt, "", ""},
                              {"sha-r3", {"other"}, std::nullopt, "", ""}};
    must(store->put_commits("llama", further));
    const auto walked = must(store->acceptances({.project = "llama", .run = "r3", .in_force_at = at(0)}));
    CHECK(walked[0].children == std::vector<std::string>{"merge", "after", "other", "sha-r3"});
    CHECK(walked[1].children == walked[0].children);
    std::vector<Commit> line;
    for (int i = 0; i < 2 * descendants_max; ++i)
      line.push_back(
          {fmt::format("line{}", i), {i == 0 ? "after" : fmt::format("line{}", i - 1)}, std::nullopt, "", ""});
    must(store->put_commits("llama", line));
    const auto bounded = must(store->acceptances({.project = "llama", .run = "r3", .in_force_at = at(0)}));
    CHECK(std::ssize(bounded[0].children) == descendants_max);
    CHECK(bounded[0].children.front() == "merge");
    CHECK(must(store->undo_acceptances({"llama", "r3", at(150), "tok2"}, audit_entry("undone"))) == 2);
    CHECK(ids({.project = "llama", .in_force_at = at(160)}) == "a3");
    const auto undone = must(store->acceptances({.project = "llama", .run = "r3"}));
    REQUIRE(acceptance_ids(undone) == "a2 a1");
    CHECK(undone[0].undone_at == at(150));
    CHECK(undone[0].undone_by == "tok2");
    // Undone once is undone: when and by whom stays.
    CHECK(error_of(store->undo_acceptances({"llama", "r3", at(170), "tok3"}, audit_entry("undone"))) ==
          ErrorCode::not_found);
  });
}

TEST_CASE("store: what cannot be accepted leaves nothing behind") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_runs(*store);
    must(store->begin_run(plain_head("unfinished"), upload_of("blob")));
    const auto entries = must(store->audit("", 100)).size();
    CHECK(error_of(store->accept(acceptance_of("r9", "a1"), audit_entry("accepted"))) == ErrorCode::not_found);
    CHECK(error_of(store->accept(acceptance_of("unfinished", "a1"), audit_entry("accepted"))) == ErrorCode::not_found);
    Acceptance acceptance = acceptance_of("r3", "a1");
    acceptance.project = "bert";
    CHECK(error_of(store->accept(acceptance, audit_entry("accepted"))) == ErrorCode::not_found);
    acceptance = acceptance_of("r3", "a1");
    acceptance.values["step.unknown"] = 1;
    CHECK(error_of(store->accept(acceptance, audit_entry("accepted"))) == ErrorCode::not_found);
    CHECK(error_of(store->undo_acceptances({"bert", "r3", at(1), ""}, audit_entry("undone"))) == ErrorCode::not_found);
    CHECK(must(store->acceptances({.project = "llama"})).empty());
    CHECK(must(store->audit("", 100)).size() == entries);
  });
}

TEST_CASE("store: a run counts as long as the acceptances that it leans on are in force") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_runs(*store);
    Acceptance acceptance = acceptance_of("r3", "a1");
    acceptance.until = at(200);
    must(store->accept(acceptance, audit_entry("accepted")));
    must(store->accept(acceptance_of("r3", "a2"), audit_entry("accepted")));
    CHECK(baseline(*store, at(150)) == "r2 r1 r0");
    lean(*store, "r3", {"a1"});
    lean(*store, "r4", {"a1", "a2"});
    CHECK(baseline(*store, at(150)) == "r4 r3 r2 r1 r0");
    CHECK(baseline(*store, at(150), Leaning::never) == "r2 r1 r0");
    CHECK(baseline(*store, at(200)) == "r2 r1 r0");
    lean(*store, "r4", {"a2"});
    CHECK(baseline(*store, at(200)) == "r4 r2 r1 r0");
    must(store->undo_acceptances({"llama", "r3", at(160), ""}, audit_entry("undone")));
    CHECK(baseline(*store, at(150)) == "r2 r1 r0");
    lean(*store, "r4", {});
    CHECK(baseline(*store, at(150)) == "r4 r2 r1 r0");
    const Membership out{"r0", false, {}}, unknown{"r9", true, {}};
    must(store->put_memberships(std::span(&out, 1)));
    CHECK(baseline(*store, at(150)) == "r4 r2 r1");
    CHECK(error_of(store->put_memberships(std::span(&unknown, 1))) == ErrorCode::not_found);
    const Membership nothing{"r1", true, {"a9"}};
    CHECK(error_of(store->put_memberships(std::span(&nothing, 1))) == ErrorCode::not_found);
  });
}

TEST_CASE("store: a result says what its run leans on") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_runs(*store);
    must(store->accept(acceptance_of("r3", "a1"), audit_entry("accepted")));
    RunResult result = plain_result("r5");
    result.leans_on = {"a1"};
    add_run(*store, plain_head("r5"), result);
    CHECK(baseline(*store, at(150)) == "r5 r2 r1 r0");
    CHECK(baseline(*store, at(150), Leaning::never) == "r2 r1 r0");
  });
}

TEST_CASE("store: nothing older than asked for is in a baseline, by the commit where its time is known") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_runs(*store);
    // r2 was received last but its commit is old; r0 was received first and nobody knows its commit.
    const Commit commits[] = {{"sha-r2", {}, at(-100), "", ""}, {"sha-r1", {}, at(50), "", ""}};
    must(store->put_commits("llama", commits));
    const auto since = [&](Timestamp time, std::vector<std::string> of) {
      return ids_of(must(store->baseline({.project = "llama",
                                          .workload = "ddp",
                                          .branch = "main",
                                          .comparable_key = "a100",
                                          .commits = std::move(of),
                                          .since = time})));
    };
    CHECK(since(at(-100), {}) == "r2 r1 r0");
    CHECK(since(at(0), {}) == "r1 r0");
    CHECK(since(at(1), {}) == "r1");
    CHECK(since(at(51), {}) == "");
    CHECK(since(at(1), {"sha-r0", "sha-r1", "sha-r2"}) == "r1");
  });
}
