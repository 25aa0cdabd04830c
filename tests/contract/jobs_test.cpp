// The queue of analyses: a job is there as long as its upload has no result, one claim holds it at a time, and only
// that claim may write the result.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "server/store/strikes.hpp"
#include "tests/contract/samples.hpp"
#include "tests/contract/store_under_test.hpp"

using namespace traceweir;
using namespace traceweir::contract;
using namespace traceweir::store;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds long_lease{60'000}, no_lease{0};

Claim claim_of(std::string holder, milliseconds lease = long_lease) { return {std::move(holder), lease}; }

/// `run`, `run#rank`, with the claim and the attempts behind it.
std::string text_of(const Job& job) {
  const std::string rank = job.rank ? "#" + std::to_string(*job.rank) : "";
  return job.project + "/" + job.run + rank + " " + (job.holder.empty() ? "-" : job.holder) + " " +
         std::to_string(job.attempts);
}

std::string text_of(const Result<std::optional<Job>>& claimed) {
  const auto job = must(claimed);
  return job ? text_of(*job) : "none";
}

std::string jobs_of(Store& store) {
  std::string text;
  for (const Job& job : must(store.jobs())) text += (text.empty() ? "" : ", ") + text_of(job);
  return text;
}

RunResult result_in(std::string_view run, std::string holder) {
  RunResult result = plain_result(run);
  result.holder = std::move(holder);
  return result;
}

RunHead part(std::string_view id) {
  RunHead head = plain_head(id);
  head.ranks_expected = 2;
  head.group = "g";
  head.commit = "sha-g";
  return head;
}

Upload rank_of(std::int64_t rank) { return {rank, "blob" + std::to_string(rank), 1, "t.json", UploadStatus::received}; }

UploadResult settled(std::int64_t rank, std::string holder) {
  UploadResult result{"r1", rank, "blob" + std::to_string(rank), 1};
  result.holder = std::move(holder);
  return result;
}

void begin(Store& store, std::string_view id, const Claim& claim = {}) {
  must(store.begin_run(plain_head(id), upload_of("blob"), claim));
}

}  // namespace

TEST_CASE("jobs: of a run of its own: there with the upload, gone with the result") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    CHECK(text_of(store->claim_job(claim_of("a"))) == "none");
    RunHead head = plain_head("r1");
    head.idempotency_key = "key";
    must(store->begin_run(head, upload_of("blob")));
    must(store->begin_run(head, upload_of("blob")));  // again: no second job
    begin(*store, "r2");
    CHECK(jobs_of(*store) == "llama/r1 - 0, llama/r2 - 0");
    CHECK(text_of(store->claim_job(claim_of("a"))) == "llama/r1 a 1");
    CHECK(text_of(store->claim_job(claim_of("b"))) == "llama/r2 b 1");
    CHECK(text_of(store->claim_job(claim_of("c"))) == "none");
    must(store->finish_run(result_in("r1", "a")));
    CHECK(jobs_of(*store) == "llama/r2 b 1");
    RunResult rejected;
    rejected.run = "r2";
    rejected.status = RunStatus::rejected;
    rejected.error_code = "malformed_trace";
    rejected.holder = "b";
    must(store->finish_run(rejected));
    CHECK(jobs_of(*store) == "");
    CHECK(under_test.damage() == "");
  });
}

TEST_CASE("jobs: of a run of several: one for each upload, then one for the run") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    must(store->begin_run(part("r1"), rank_of(0), claim_of("a")));
    must(store->begin_run(part("r2"), rank_of(1)));
    CHECK(jobs_of(*store) == "llama/r1#0 a 1, llama/r1#1 - 0");
    CHECK(error_of(store->settle_upload(settled(1, "a"))) == ErrorCode::conflict);
    CHECK(text_of(store->claim_job(claim_of("b"))) == "llama/r1#1 b 1");
    CHECK(must(store->settle_upload(settled(1, "b"))) == RunStatus::pending);
    CHECK(jobs_of(*store) == "llama/r1#0 a 1");
    CHECK(error_of(store->settle_upload(settled(0, "b"))) == ErrorCode::conflict);
    CHECK(must(store->settle_upload(settled(0, "a"))) == RunStatus::analysing);
    CHECK(jobs_of(*store) == "llama/r1 - 0");
    CHECK(must(store->settle_upload(settled(0, "a"))) == RunStatus::analysing);  // settled is settled
    CHECK(must(store->close_run("llama", "r1")) == RunStatus::analysing);
    CHECK(jobs_of(*store) == "llama/r1 - 0");
    CHECK(text_of(store->claim_job(claim_of("c"))) == "llama/r1 c 1");
    must(store->finish_run(result_in("r1", "c")));
    CHECK(jobs_of(*store) == "");
  });
}

TEST_CASE("jobs: a run that is closed, and an upload that takes a rejected one's place, get a job") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    must(store->begin_run(part("r1"), rank_of(0), claim_of("a")));
    UploadResult refused = settled(0, "a");
    refused.ranks = 0;
    refused.error_code = "malformed_trace";
    CHECK(must(store->settle_upload(refused)) == RunStatus::pending);
    CHECK(jobs_of(*store) == "");
    Upload other = rank_of(0);
    other.sha256 = "blob9";
    must(store->begin_run(part("r2"), other));
    CHECK(jobs_of(*store) == "llama/r1#0 - 0");
    CHECK(must(store->close_run("llama", "r1")) == RunStatus::pending);
    CHECK(jobs_of(*store) == "llama/r1#0 - 0");
    UploadResult whole = settled(0, "b");
    whole.sha256 = "blob9";
    CHECK(text_of(store->claim_job(claim_of("b"))) == "llama/r1#0 b 1");
    CHECK(must(store->settle_upload(whole)) == RunStatus::analysing);
    CHECK(jobs_of(*store) == "llama/r1 - 0");
  });
}

TEST_CASE("jobs: a claim whose lease ended may be claimed by another one, and the first writes nothing any more") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    begin(*store, "r1", claim_of("a", no_lease));
    CHECK(text_of(store->claim_job(claim_of("b"))) == "llama/r1 b 2");
    CHECK(must(store->renew_claims(std::vector<std::string>{"a"}, long_lease)).empty());
    must(store->release_job({"a", Release::Attempt::failed, no_lease}));  // nothing of it is left
    CHECK(error_of(store->finish_run(result_in("r1", "a"))) == ErrorCode::conflict);
    CHECK(error_of(store->finish_run(result_in("r1", ""))) == ErrorCode::conflict);
    CHECK(must(store->run("llama", "r1"))->status == RunStatus::analysing);
    CHECK(must(store->history({"llama", "ddp", "main", "gpu.utilization", 9})).empty());
    CHECK(jobs_of(*store) == "llama/r1 b 2");
    must(store->finish_run(result_in("r1", "b")));
    CHECK(error_of(store->finish_run(result_in("r1", "b"))) == ErrorCode::conflict);
    CHECK(must(store->history({"llama", "ddp", "main", "gpu.utilization", 9})).size() == 1);
  });
}

TEST_CASE("jobs: a claim that is renewed lasts, even late, as long as nobody else has the job") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    begin(*store, "r1", claim_of("a", no_lease));
    begin(*store, "r2", claim_of("b", no_lease));
    const std::vector<std::string> ours = {"a", "c"};
    CHECK(must(store->renew_claims(ours, long_lease)) == std::vector<std::string>{"a"});
    CHECK(must(store->renew_claims(std::vector<std::string>{""}, long_lease)).empty());
    CHECK(must(store->renew_claims({}, long_lease)).empty());
    CHECK(text_of(store->claim_job(claim_of("d"))) == "llama/r2 d 2");
    CHECK(text_of(store->claim_job(claim_of("e"))) == "none");
  });
}

TEST_CASE("jobs: a claim is given back uncounted, or counted and after a pause") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    begin(*store, "r1");
    for (int i = 0; i < 5; ++i) {
      CHECK(text_of(store->claim_job(claim_of("a"))) == "llama/r1 a 1");
      must(store->release_job({"a", Release::Attempt::uncounted, no_lease}));
    }
    for (int i = 0; i < 3; ++i) {
      CHECK(must(store->claim_job(claim_of("a")))->attempts == i * strikes_of_a_failure + strikes_of_an_end);
      must(store->release_job({"a", Release::Attempt::failed, no_lease}));
    }
    static_assert(3 * strikes_of_a_failure >= strikes_max && 20 * strikes_of_an_end < strikes_max);
    CHECK(text_of(store->claim_job(claim_of("a"))) == "llama/r1 a 22");
    must(store->release_job({"a", Release::Attempt::failed, long_lease}));
    CHECK(text_of(store->claim_job(claim_of("b"))) == "none");
    CHECK(jobs_of(*store) == "llama/r1 - 28");
    must(store->release_job({"", Release::Attempt::failed, no_lease}));  // of no claim
    CHECK(jobs_of(*store) == "llama/r1 - 28");
  });
}

TEST_CASE("jobs: many that claim at once get one each, and every run one result") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    constexpr int runs = 40, workers = 8;
    for (int i = 0; i < runs; ++i) begin(*store, "r" + std::to_string(i));
    std::vector<std::unique_ptr<Store>> stores;  // several processes, where the store is for several
    for (int i = 0; i < workers; ++i) stores.push_back(under_test.open(Opening::beside_service));
    std::mutex mutex;
    std::vector<std::string> claimed, problems;
    std::vector<std::thread> threads;
    for (int i = 0; i < workers; ++i)
      threads.emplace_back([&, i] {
        for (int n = 0;; ++n) {
          const std::string holder = std::to_string(i) + "/" + std::to_string(n);
          const auto job = stores[static_cast<std::size_t>(i)]->claim_job(claim_of(holder));
          if (job && !*job) return;
          const auto done = job ? store->finish_run(result_in((*job)->run, holder)) : tl::unexpected(job.error());
          const std::lock_guard lock(mutex);
          if (!done) return problems.push_back(done.error().message);
          claimed.push_back((*job)->run);
        }
      });
    for (std::thread& thread : threads) thread.join();
    CHECK(problems == std::vector<std::string>{});
    CHECK(claimed.size() == runs);
    CHECK(std::set<std::string>(claimed.begin(), claimed.end()).size() == runs);
    CHECK(jobs_of(*store) == "");
  });
}

TEST_CASE("jobs: of many that hold the same job one after the other, one writes its result") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    for (int round = 0; round < 10; ++round) {
      const std::string run = "r" + std::to_string(round);
      begin(*store, run);
      std::atomic<int> written{0};
      std::vector<std::thread> threads;
      for (int i = 0; i < 6; ++i)
        threads.emplace_back([&, i] {
          const std::string holder = run + "/" + std::to_string(i);
          const auto job = store->claim_job(claim_of(holder, no_lease));  // which everybody else may claim at once
          if (job && *job && store->finish_run(result_in(run, holder))) ++written;
        });
      for (std::thread& thread : threads) thread.join();
      CHECK(written <= 1);
      if (written == 0) must(store->finish_run(result_in(run, must(store->claim_job(claim_of("last")))->holder)));
      CHECK(must(store->run("llama", run))->status == RunStatus::judged);
    }
    CHECK(jobs_of(*store) == "");
    CHECK(must(store->history({"llama", "ddp", "main", "gpu.utilization", 99})).size() == 10);
  });
}

TEST_CASE("jobs: a service that starts on a store of its own ends the claims of the one before") {
  on_each_store([](StoreUnderTest& under_test) {
    {
      const auto store = under_test.open();
      add_project(*store);
      begin(*store, "r1", claim_of("a"));
      CHECK(text_of(under_test.open(Opening::beside_service)->claim_job(claim_of("b"))) == "none");
    }
    const auto store = under_test.open();
    const bool shared = is_shared(under_test.url());  // there another service may have it
    CHECK(text_of(store->claim_job(claim_of("b"))) == (shared ? "none" : "llama/r1 b 2"));
  });
}

TEST_CASE("jobs: a bell is heard by the others and not by itself") {
  on_each_store([](StoreUnderTest& under_test) {
    if (!is_shared(under_test.url())) return under_test.open()->bell([] {})->ring();
    const auto store = under_test.open();
    std::mutex mutex;
    std::condition_variable changed;
    int own = 0, other = 0;
    const auto count = [&](int& number) {
      return [&mutex, &changed, &number] {
        const std::lock_guard lock(mutex);
        ++number;
        changed.notify_all();
      };
    };
    const auto ours = store->bell(count(own));
    const auto theirs = store->bell(count(other));
    std::unique_lock lock(mutex);
    for (int tries = 0; other == 0 && tries < 1000; ++tries) {  // until both listen
      ours->ring();
      changed.wait_for(lock, milliseconds{20}, [&] { return other > 0; });
    }
    CHECK(other > 0);
    CHECK(own == 0);
  });
}

TEST_CASE("tokens: of many that add the first administrator, one does") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    Token of_project;
    of_project.id = "p";
    of_project.project = "llama";
    of_project.scopes = {true, true, true};
    must(store->add_token(of_project, audit_entry("token")));  // is none
    std::atomic<int> added{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 5; ++i)
      threads.emplace_back([&, i] {
        Token token;
        token.id = "t" + std::to_string(i);
        token.scopes = {true, true, true};
        const auto done = store->add_first_administrator(token, audit_entry("token"));
        if (done && *done) ++added;
      });
    for (std::thread& thread : threads) thread.join();
    CHECK(added == 1);
    CHECK(must(store->tokens()).size() == 2);
    Token late;
    late.id = "late";
    late.scopes = {false, false, true};
    CHECK_FALSE(must(store->add_first_administrator(late, audit_entry("token"))));
  });
}
