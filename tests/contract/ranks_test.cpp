// Runs of several uploads: any order, one run, one that finds it complete.
#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

#include "server/store/run_group.hpp"
#include "tests/contract/samples.hpp"
#include "tests/contract/store_under_test.hpp"

using namespace traceweir;
using namespace traceweir::contract;
using namespace traceweir::store;

namespace {

/// An upload of a run of `ranks` ranks with the run key "k".
RunHead part(std::string_view id, std::int64_t ranks) {
  RunHead head = plain_head(id);
  head.commit = "c1";
  head.run_key = "k";
  head.ranks_expected = ranks;
  head.group = group_of(head);
  return head;
}

Upload rank_of(std::int64_t rank, std::string_view sha256) { return {rank, std::string(sha256), 1, "t.json"}; }

UploadResult whole(std::string_view run, const Upload& upload, std::int64_t ranks = 1) {
  return {std::string(run), upload.rank, upload.sha256, ranks};
}

UploadResult refused(std::string_view run, const Upload& upload) {
  return {std::string(run), upload.rank, upload.sha256, 0, "malformed_trace", "byte 7"};
}

/// What the store says of one more upload: the state, or the word and the message of the error.
std::string said(const Result<Begun>& begun) {
  if (!begun) return std::string(word(begun.error().code)) + ": " + begun.error().message;
  constexpr std::string_view words[] = {"created", "joined", "seen_before"};
  return begun->run + " " + std::string(words[static_cast<std::size_t>(begun->state)]);
}

bool mentions(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

Upload kept(Store& store, std::int64_t rank) {
  const RunRecord run = must(store.run("llama", "r1")).value();
  const auto found =
      std::find_if(run.uploads.begin(), run.uploads.end(), [rank](const Upload& u) { return u.rank == rank; });
  REQUIRE(found != run.uploads.end());
  return *found;
}

/// A store in which run r1 waits for two ranks and has rank 0.
std::unique_ptr<Store> waiting_store(const StoreUnderTest& under_test) {
  auto store = under_test.open();
  add_project(*store);
  CHECK(said(store->begin_run(part("r1", 2), rank_of(0, "a"))) == "r1 created");
  return store;
}

}  // namespace

TEST_CASE("ranks: which uploads are one run") {
  RunHead head = plain_head("r");
  CHECK(group_of(head).empty());
  head.ci_run = "7";
  CHECK(group_of(head).empty());  // without `ranks` each upload is a sample of its own
  head.ranks_expected = 2;
  const std::string of_ci = group_of(head);
  CHECK_FALSE(of_ci.empty());
  head.job = "bench";
  CHECK(group_of(head) != of_ci);
  head.run_key = "k";
  const std::string of_key = group_of(head);
  head.job = "other";
  CHECK(group_of(head) == of_key);  // a run key says it all, whichever job sends it
  for (auto change : {+[](RunHead& h) { h.attempt = 2; }, +[](RunHead& h) { h.commit = "c2"; },
                      +[](RunHead& h) { h.workload = "w"; }, +[](RunHead& h) { h.run_key = "l"; }}) {
    RunHead changed = head;
    change(changed);
    CHECK(group_of(changed) != of_key);
  }
}

TEST_CASE("ranks: a run waits, says for what, and goes on when the last rank is whole") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = waiting_store(under_test);
    CHECK(must(store->run("llama", "r1")).value().status == RunStatus::pending);
    CHECK(kept(*store, 0).status == UploadStatus::received);
    CHECK(must(store->settle_upload(whole("r1", rank_of(0, "a")))) == RunStatus::pending);
    CHECK(kept(*store, 0).status == UploadStatus::whole);
    CHECK(kept(*store, 0).ranks == 1);
    CHECK(ranks_received(must(store->run("llama", "r1")).value()) == std::vector<std::int64_t>{0});
    CHECK(ranks_missing(must(store->run("llama", "r1")).value()) == std::vector<std::int64_t>{1});

    CHECK(said(store->begin_run(part("r2", 2), rank_of(1, "b"))) == "r1 joined");
    CHECK_FALSE(must(store->run("llama", "r2")).has_value());
    REQUIRE(must(store->unfinished_runs()).size() == 1);
    CHECK(must(store->unfinished_runs())[0].uploads.size() == 2);
    CHECK(must(store->settle_upload(whole("r1", rank_of(1, "b")))) == RunStatus::analysing);
    must(store->finish_run(plain_result("r1")));
    CHECK(must(store->settle_upload(whole("r1", rank_of(1, "b")))) == RunStatus::judged);
    CHECK(must(store->close_run("llama", "r1")) == RunStatus::judged);
    CHECK(under_test.damage() == "");
  });
}

TEST_CASE("ranks: what joins, what was seen before, and what is refused, by name") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = waiting_store(under_test);
    CHECK(said(store->begin_run(part("r2", 2), rank_of(0, "a"))) == "r1 seen_before");
    CHECK(mentions(said(store->begin_run(part("r2", 2), rank_of(0, "b"))), "conflict: rank 0 of run r1"));
    CHECK(mentions(said(store->begin_run(part("r2", 4), rank_of(1, "b"))),
                   "conflict: ranks: this upload says 4, and run r1 was begun with 2"));
    CHECK(
        mentions(said(store->begin_run(part("r2", 2), rank_of(2, "b"))), "bad_query: rank: 2 is none of the 2 ranks"));
    RunHead other = part("r2", 2);
    other.branch = "topic";
    CHECK(mentions(said(store->begin_run(other, rank_of(1, "b"))), "conflict: branch: run r1 was begun with 'main'"));
    other = part("r2", 2);
    other.environment = {{"node", "b"}};
    CHECK(mentions(said(store->begin_run(other, rank_of(1, "b"))), "'node=b'"));
    CHECK(must(store->run("llama", "r1")).value().uploads.size() == 1);

    CHECK(said(store->begin_run(part("r2", 0), rank_of(1, "b"))) == "r1 joined");  // `ranks` need not be said again
    must(store->settle_upload(whole("r1", rank_of(0, "a"))));
    must(store->settle_upload(whole("r1", rank_of(1, "b"))));
    CHECK(mentions(said(store->begin_run(part("r2", 2), rank_of(1, "c"))), "conflict: rank 1 comes too late"));
    CHECK(said(store->begin_run(part("r2", 2), rank_of(1, "b"))) == "r1 seen_before");
    RunHead again = part("r2", 2);
    again.attempt = 2;
    again.group = group_of(again);
    CHECK(said(store->begin_run(again, rank_of(1, "c"))) == "r2 created");
  });
}

TEST_CASE("ranks: projects do not share runs") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = waiting_store(under_test);
    add_project(*store, "bert");
    RunHead head = part("r2", 2);
    head.project = "bert";
    CHECK(said(store->begin_run(head, rank_of(1, "b"))) == "r2 created");
    CHECK(error_of(store->close_run("bert", "r1")) == ErrorCode::not_found);
    CHECK(error_of(store->settle_upload(whole("r9", rank_of(0, "a")))) == ErrorCode::not_found);
  });
}

TEST_CASE("ranks: a rejected upload leaves its slot free and says why until the next try") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = waiting_store(under_test);
    CHECK(must(store->settle_upload(refused("r1", rank_of(0, "a")))) == RunStatus::pending);
    CHECK(kept(*store, 0).status == UploadStatus::rejected);
    CHECK(kept(*store, 0).error_code == "malformed_trace");
    CHECK(kept(*store, 0).error_message == "byte 7");
    CHECK(ranks_missing(must(store->run("llama", "r1")).value()) == std::vector<std::int64_t>{0, 1});
    CHECK(must(store->settle_upload(whole("r1", rank_of(0, "a")))) == RunStatus::pending);  // settled is settled
    CHECK(kept(*store, 0).status == UploadStatus::rejected);

    CHECK(said(store->begin_run(part("r2", 2), rank_of(0, "b"))) == "r1 joined");
    CHECK(kept(*store, 0).sha256 == "b");
    CHECK(must(store->settle_upload(refused("r1", rank_of(0, "a")))) == RunStatus::pending);  // of the try before
    CHECK(kept(*store, 0).status == UploadStatus::received);
  });
}

TEST_CASE("ranks: a file of several ranks fills several slots, or is refused where one is not free") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    must(store->begin_run(part("r1", 4), rank_of(1, "a")));
    CHECK(must(store->settle_upload(whole("r1", rank_of(1, "a"), 2))) == RunStatus::pending);
    const RunRecord run = must(store->run("llama", "r1")).value();
    CHECK(ranks_received(run) == std::vector<std::int64_t>{1, 2});
    CHECK(ranks_missing(run) == std::vector<std::int64_t>{0, 3});
    CHECK(mentions(said(store->begin_run(part("r2", 4), rank_of(2, "b"))), "conflict: rank 2 of run r1"));

    must(store->begin_run(part("r2", 4), rank_of(0, "b")));
    CHECK(must(store->settle_upload(whole("r1", rank_of(0, "b"), 2))) == RunStatus::pending);
    CHECK(mentions(kept(*store, 0).error_message, "rank 1 of run r1 was sent already"));
    CHECK(kept(*store, 0).error_code == "conflict");
    must(store->begin_run(part("r2", 4), rank_of(3, "c")));
    must(store->settle_upload(whole("r1", rank_of(3, "c"), 2)));
    CHECK(mentions(kept(*store, 3).error_message, "the file holds 2 ranks from 3 on, and run r1 has 4"));

    must(store->begin_run(part("r2", 4), rank_of(3, "d")));
    must(store->settle_upload(whole("r1", rank_of(3, "d"))));
    must(store->begin_run(part("r2", 4), rank_of(0, "e")));
    CHECK(must(store->settle_upload(whole("r1", rank_of(0, "e")))) == RunStatus::analysing);
  });
}

TEST_CASE("ranks: the same rank's trace twice is refused when it comes, and the others stay") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = waiting_store(under_test);
    const auto stating = [](const Upload& upload, std::vector<std::int64_t> stated) {
      UploadResult result = whole("r1", upload);
      result.stated = std::move(stated);
      return result;
    };
    CHECK(must(store->settle_upload(stating(rank_of(0, "a"), {3}))) == RunStatus::pending);
    CHECK(kept(*store, 0).stated == std::vector<std::int64_t>{3});
    must(store->begin_run(part("r2", 2), rank_of(1, "b")));
    CHECK(must(store->settle_upload(stating(rank_of(1, "b"), {2, 3}))) == RunStatus::pending);
    CHECK(kept(*store, 1).status == UploadStatus::rejected);
    CHECK(kept(*store, 1).error_code == "conflict");
    for (const char* part : {"sent as rank 1", "of rank 3", "sent as rank 0"})
      CHECK(mentions(kept(*store, 1).error_message, part));
    CHECK(kept(*store, 1).stated.empty());
    CHECK(kept(*store, 0).status == UploadStatus::whole);

    must(store->begin_run(part("r2", 2), rank_of(1, "c")));
    CHECK(must(store->settle_upload(stating(rank_of(1, "c"), {}))) == RunStatus::analysing);  // states none: any slot
  });
}

TEST_CASE("ranks: stated ranks keep their text") {
  for (const std::vector<std::int64_t>& ranks : {std::vector<std::int64_t>{}, {0}, {7, 0, 1'000'000}})
    CHECK(ranks_of_text(text_of_ranks(ranks)) == ranks);
  CHECK(text_of_ranks({0, 12}) == "0,12");
}

TEST_CASE("ranks: a closed run goes on when the uploads that it has are settled, and takes no more") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = waiting_store(under_test);
    CHECK(must(store->close_run("llama", "r1")) == RunStatus::pending);  // rank 0 is being analysed
    CHECK(must(store->run("llama", "r1")).value().closed);
    CHECK(mentions(said(store->begin_run(part("r2", 2), rank_of(1, "b"))), "conflict: rank 1 comes too late"));
    CHECK(must(store->settle_upload(whole("r1", rank_of(0, "a")))) == RunStatus::analysing);
    CHECK(must(store->close_run("llama", "r1")) == RunStatus::analysing);
    CHECK(error_of(store->close_run("llama", "r9")) == ErrorCode::not_found);
  });
}

TEST_CASE("ranks: an idempotency key belongs to the upload of one rank") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    RunHead head = part("r1", 2);
    head.idempotency_key = "key-0";
    must(store->begin_run(head, rank_of(0, "a")));
    head.id = "r2";
    CHECK(said(store->begin_run(head, rank_of(0, "a"))) == "r1 seen_before");
    CHECK(mentions(said(store->begin_run(head, rank_of(0, "b"))), "key_reused"));
    CHECK(mentions(said(store->begin_run(head, rank_of(1, "a"))), "key_reused"));
    head.idempotency_key = "key-1";
    CHECK(said(store->begin_run(head, rank_of(1, "a"))) == "r1 joined");
  });
}

TEST_CASE("ranks: a later attempt of a run key supersedes, whichever jobs sent the ranks") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    RunHead first = part("r1", 1), second = part("r2", 1);
    first.job = "node-0";
    second.job = "node-1";
    second.attempt = 2;
    second.group = group_of(second);
    for (const RunHead& head : {second, first}) {
      must(store->begin_run(head, rank_of(0, head.id)));
      must(store->settle_upload(whole(head.id, rank_of(0, head.id))));
      must(store->finish_run(plain_result(head.id)));
    }
    CHECK(must(store->run("llama", "r1")).value().superseded);
    CHECK_FALSE(must(store->run("llama", "r2")).value().superseded);
  });
}

// Why: eight jobs send their ranks at once; the run must be judged once, not never and not twice.
TEST_CASE("ranks: eight at once make one run, and one of them finds it complete") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    for (int round = 0; round < 10; ++round) {
      CAPTURE(round);
      std::atomic<int> created{0}, complete{0}, failed{0};
      std::vector<std::thread> clients;
      for (std::int64_t rank = 0; rank < 8; ++rank)
        clients.emplace_back([&, rank] {
          RunHead head = part(std::to_string(round) + "-" + std::to_string(rank), 8);
          head.run_key = std::to_string(round);
          head.group = group_of(head);
          const Upload upload = rank_of(rank, "blob" + std::to_string(rank));
          const auto begun = store->begin_run(head, upload);
          if (!begun) return static_cast<void>(++failed);
          if (begun->state == Begun::State::created) ++created;
          const auto status = store->settle_upload(whole(begun->run, upload));
          if (!status) return static_cast<void>(++failed);
          if (*status == RunStatus::analysing) ++complete;
        });
      for (std::thread& client : clients) client.join();
      CHECK(failed == 0);
      CHECK(created == 1);
      CHECK(complete == 1);
    }
    CHECK(must(store->runs({.project = "llama", .limit = 100})).size() == 10);
    CHECK(must(store->unfinished_runs()).size() == 10);
  });
}

TEST_CASE("ranks: fifty parallel retries of one upload make one run") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    std::atomic<int> created{0}, seen{0};
    std::vector<std::thread> clients;
    for (int i = 0; i < 50; ++i)
      clients.emplace_back([&, i] {
        const auto begun = store->begin_run(part("r" + std::to_string(i), 2), rank_of(1, "a"));
        if (begun) ++(begun->state == Begun::State::created ? created : seen);
      });
    for (std::thread& client : clients) client.join();
    CHECK(created == 1);
    CHECK(seen == 49);
    const auto runs = must(store->runs({.project = "llama", .limit = 100}));
    REQUIRE(runs.size() == 1);
    CHECK(runs[0].uploads.size() == 1);
  });
}
