// Retention, usage and deletion.
#include <mutex>
#include <set>
#include <thread>

#include "tests/contract/samples.hpp"
#include "tests/contract/store_under_test.hpp"

using namespace traceweir;
using namespace traceweir::contract;
using namespace traceweir::store;

namespace {

Upload sized(std::string_view sha256, std::int64_t bytes) {
  Upload upload = upload_of(sha256);
  upload.bytes = bytes;
  return upload;
}

/// A finished run received at `seconds` with one trace named after it.
void add(Store& store, const std::string& id, std::int64_t seconds, std::optional<gate::Outcome> outcome,
         std::int64_t bytes = 10) {
  RunHead head = plain_head(id);
  head.received_at = at(seconds);
  must(store.begin_run(head, sized("blob-" + id, bytes)));
  RunResult result = plain_result(id);
  result.outcome = outcome;
  result.in_series = true;
  if (!outcome) result.status = RunStatus::rejected, result.in_baseline = false, result.in_series = false;
  must(store.finish_run(result));
}

void accept(Store& store, const std::string& id, const std::string& run) {
  Acceptance acceptance;
  acceptance.id = id;
  acceptance.project = "llama";
  acceptance.run = run;
  acceptance.reason = "known";
  acceptance.author = "me";
  acceptance.created_at = at(0);
  must(store.accept(acceptance, audit_entry("accepted")));
}

std::string removable(Store& store, std::int64_t before = 1'000, std::int64_t limit = 100) {
  std::string ids;
  for (const KeptTrace& trace : must(store.removable_traces({"llama", at(before), limit})))
    ids += (ids.empty() ? "" : " ") + trace.run;
  return ids;
}

bool remove(Store& store, const std::string& run) {
  const KeptTrace trace{run, upload_of("").rank, "blob-" + run, 10, {}};
  return must(store.remove_trace({trace, at(500), "too old"}));
}

AuditEntry deletion(const std::string& run) { return {at(9), "llama", "admin", "run_deleted", run}; }

}  // namespace

TEST_CASE("store: what a project wants to keep") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    CHECK(must(store->project("llama"))->keeping == Keeping{});
    Project project = *must(store->project("llama"));
    project.keeping = {30, std::int64_t{1} << 53, 0, std::nullopt};
    must(store->put_project(project, audit_entry("changed")));
    CHECK(must(store->projects()).front().keeping == project.keeping);
    project.keeping = {std::nullopt, std::nullopt, std::nullopt, 7};
    must(store->put_project(project, audit_entry("changed")));
    CHECK(must(store->project("llama"))->keeping == project.keeping);
  });
}

TEST_CASE("store: usage counts kept bytes, and uploads since") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    add_project(*store, "other");
    CHECK(must(store->usage({"llama", at(0), ""})).stored_bytes == 0);
    CHECK(must(store->usage({"nobody", at(0), ""})).uploads == 0);
    add(*store, "a", 1, gate::Outcome::pass, std::int64_t{1} << 40);
    add(*store, "b", 2, gate::Outcome::fail, 5);
    const Usage usage = must(store->usage({"llama", at(2), ""}));
    CHECK(usage.stored_bytes == (std::int64_t{1} << 40) + 5);
    CHECK(usage.uploads == 1);
    CHECK(must(store->usage({"other", at(0), ""})).stored_bytes == 0);
    CHECK(remove(*store, "a"));
    CHECK(must(store->usage({"llama", at(0), ""})).stored_bytes == 5);
    CHECK(must(store->usage({"llama", at(0), ""})).uploads == 2);
    RunHead keyed = plain_head("keyed");
    keyed.idempotency_key = "key";
    must(store->begin_run(keyed, sized("x", 7)));
    CHECK(must(store->usage({"llama", at(0), "key"})).key_bytes == 7);
    CHECK_FALSE(must(store->usage({"llama", at(0), "other"})).key_bytes);
    CHECK_FALSE(must(store->usage({"other", at(0), "key"})).key_bytes);
    CHECK_FALSE(must(store->usage({"llama", at(0), ""})).key_bytes);
  });
}

TEST_CASE("store: the ranks of a run are uploads of their own time") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    RunHead head = plain_head("g");
    head.group = "group";
    head.ranks_expected = 2;
    head.received_at = at(1);
    must(store->begin_run(head, sized("one", 3)));
    head.id = "h";
    head.received_at = at(100);
    Upload second = sized("two", 4);
    second.rank = 1;
    must(store->begin_run(head, second));
    CHECK(must(store->usage({"llama", at(50), ""})).uploads == 1);
    CHECK(must(store->usage({"llama", at(0), ""})).stored_bytes == 7);
  });
}

TEST_CASE("store: traces of failed, accepted and unfinished runs are kept, others go oldest first") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    add(*store, "late", 50, gate::Outcome::pass);
    add(*store, "warned", 10, gate::Outcome::warn);
    add(*store, "failed", 11, gate::Outcome::fail);
    add(*store, "accepted", 12, gate::Outcome::pass);
    add(*store, "rejected", 13, std::nullopt);
    RunHead waiting = plain_head("waiting");
    waiting.received_at = at(1);
    must(store->begin_run(waiting, sized("blob-waiting", 10)));
    accept(*store, "acc", "accepted");
    CHECK(removable(*store) == "warned rejected late");
    CHECK(removable(*store, 50) == "warned rejected");
    CHECK(removable(*store, 1'000, 1) == "warned");
    for (const char* run : {"failed", "accepted", "waiting", "nobody"}) CHECK_FALSE(remove(*store, run));

    CHECK(must(store->blob_in_use("blob-warned")));
    CHECK(remove(*store, "warned"));
    CHECK_FALSE(remove(*store, "warned"));
    CHECK_FALSE(must(store->blob_in_use("blob-warned")));
    CHECK(removable(*store) == "rejected late");
    const Upload upload = must(store->run("llama", "warned"))->uploads.front();
    CHECK(upload.removed_at == at(500));
    CHECK(upload.removed_why == "too old");

    must(store->undo_acceptances({"llama", "accepted", at(60), "me"}, audit_entry("undone")));
    CHECK(removable(*store) == "accepted rejected late");
  });
}

TEST_CASE("store: a blob is in use as long as one run keeps it") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    const std::string shared = "shared";
    for (const char* id : {"a", "b"}) must(store->begin_run(plain_head(id), upload_of(shared)));
    CHECK(must(store->delete_run("llama", "a", deletion("a"))).blobs == std::vector<std::string>{shared});
    CHECK(must(store->blob_in_use(shared)));
    must(store->delete_run("llama", "b", deletion("b")));
    CHECK_FALSE(must(store->blob_in_use(shared)));
  });
}

TEST_CASE("store: a deleted run is gone with all that is of it") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    for (const char* id : {"a", "b", "c"}) add(*store, id, 1, gate::Outcome::pass);
    accept(*store, "acc", "b");
    const SeriesKey key{"llama", "ddp", "main", must(store->run("llama", "b"))->comparable_key};
    const auto read = [&] { return must(store->series({key, {"gpu.utilization"}, at(0), 10'000})); };
    const Series before = read();
    REQUIRE(before.runs.size() == 3);
    // One that counts only by the acceptance of the run.
    must(store->put_memberships(std::vector<Membership>{{"c", true, {"acc"}}}));

    CHECK(must(store->delete_run("llama", "b", deletion("b"))).runs == 1);
    CHECK_FALSE(must(store->run("llama", "b")));
    CHECK(must(store->acceptances({.project = "llama"})).empty());
    const Series after = read();
    CHECK(after.runs.size() == 2);
    CHECK(after.version > before.version);
    CHECK_FALSE(must(store->run("llama", "c"))->in_baseline);
    CHECK(must(store->history({.project = "llama", .workload = "ddp", .metric = "gpu.utilization"})).size() == 2);
    CHECK(must(store->audit("llama", 1)).front().action == "run_deleted");

    CHECK(must(store->delete_run("llama", "b", deletion("b"))).runs == 0);  // asked again
    CHECK(error_of(store->delete_run("llama", "x", deletion("x"))) == ErrorCode::not_found);
    CHECK(error_of(store->delete_run("other", "a", {at(9), "other", "", "run_deleted", "a"})) == ErrorCode::not_found);
    CHECK(error_of(store->finish_run(plain_result("b"))) == ErrorCode::not_found);
  });
}

TEST_CASE("store: a deleted project is gone in steps, and may be made again") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    add_project(*store, "other");
    for (int i = 0; i < 5; ++i) add(*store, "r" + std::to_string(i), i, gate::Outcome::pass);
    Token token;
    token.id = "t";
    token.project = "llama";
    must(store->add_token(token, audit_entry("token")));
    const AuditEntry audit{at(9), "llama", "admin", "project_deleted", ""};
    Deleted some = must(store->delete_project("llama", 2, audit));
    CHECK(some.runs == 2);
    CHECK_FALSE(some.is_whole);
    CHECK(some.blobs == std::vector<std::string>{"blob-r0", "blob-r1"});
    CHECK(must(store->project("llama")));
    CHECK(must(store->delete_project("llama", 2, audit)).runs == 2);
    some = must(store->delete_project("llama", 2, audit));
    CHECK(some.is_whole);
    CHECK_FALSE(must(store->project("llama")));
    CHECK_FALSE(must(store->token("t")));
    CHECK(must(store->project("other")));
    CHECK(must(store->audit("llama", 1)).front().action == "project_deleted");
    CHECK(must(store->delete_project("llama", 2, audit)).is_whole);  // asked again
    CHECK(error_of(store->delete_project("nobody", 2, {at(9), "nobody", "", "project_deleted", ""})) ==
          ErrorCode::not_found);
    add_project(*store);
    CHECK(ids_of(must(store->runs({.project = "llama"}))).empty());
  });
}

TEST_CASE("store: what comes for a project while it is deleted is kept, or told that there is none") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    std::set<std::string> told;
    std::mutex mutex;
    const auto until_refused = [&](const auto& write) {
      for (int i = 0; i < 1'000; ++i)
        if (const auto done = write(i); !done) {
          const std::lock_guard lock(mutex);
          told.insert(std::string(word(done.error().code)) + ": " + done.error().message);
          return;
        }
    };
    for (int round = 0; round < 20; ++round) {
      add_project(*store);
      std::vector<std::thread> threads;
      for (const std::string group : {"", "of-one", "of-two"})
        threads.emplace_back([&, group] {
          until_refused([&](int i) {
            RunHead head = plain_head(group + std::to_string(round) + "-" + std::to_string(i));
            head.group = group.empty() ? "" : group + std::to_string(i);
            head.ranks_expected = group.empty() ? 0 : 2;
            return store->begin_run(head, upload_of("blob"));
          });
        });
      threads.emplace_back([&] {
        until_refused([&](int i) {
          const std::string sha = std::to_string(round) + "-" + std::to_string(i);
          const Commit commit{sha, {sha + "-parent"}, std::nullopt, "", ""};
          return store->put_commits("llama", std::span(&commit, 1));
        });
      });
      const AuditEntry audit{at(9), "llama", "admin", "project_deleted", ""};
      while (!must(store->delete_project("llama", 100, audit)).is_whole) continue;
      for (std::thread& thread : threads) thread.join();
      CHECK_FALSE(told.empty());
      for (const std::string& error : told) CHECK(error.substr(0, error.find(':')) == word(ErrorCode::not_found));
    }
  });
}

TEST_CASE("store: old values go, runs stay") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    add(*store, "old", 1, gate::Outcome::pass);
    add(*store, "new", 5, gate::Outcome::pass);
    must(store->drop_measurements_before(at(5)));
    must(store->drop_measurements_before(at(5)));  // again is fine
    const auto points = must(store->history({.project = "llama", .workload = "ddp", .metric = "gpu.utilization"}));
    REQUIRE(points.size() == 1);
    CHECK(points.front().run == "new");
    CHECK_FALSE(must(store->run("llama", "old"))->report_json.empty());
  });
}
