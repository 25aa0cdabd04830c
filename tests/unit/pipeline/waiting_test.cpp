// Who waits for jobs that are done elsewhere, and what becomes of claims that this process holds.
#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/pipeline/claims.hpp"
#include "server/pipeline/watchers.hpp"

using namespace traceweir;
using namespace traceweir::pipeline;
using std::chrono::milliseconds;

namespace {

/// A store of its own with one project, gone at the end.
class OwnStore {
 public:
  OwnStore() {
    std::string name = (std::filesystem::temp_directory_path() / "traceweir_claims_XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    folder_ = name;
    auto opened = store::open_store("sqlite:" + (folder_ / "store.db").string(), store::Opening::service);
    REQUIRE(opened.has_value());
    store_ = *std::move(opened);
    store::Project project;
    project.name = "llama";
    REQUIRE(store_->put_project(project, {}).has_value());
  }
  OwnStore(const OwnStore&) = delete;
  OwnStore& operator=(const OwnStore&) = delete;
  ~OwnStore() {
    store_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  store::Store& operator*() { return *store_; }
  store::Store* operator->() { return store_.get(); }

  void begin(const std::string& run, const store::Claim& claim) {
    store::RunHead head;
    head.id = run;
    head.project = "llama";
    head.workload = "default";
    head.commit = "c";
    head.branch = "main";
    REQUIRE(store_->begin_run(head, {0, "blob", 1, "t"}, claim).has_value());
  }
  std::string jobs() {
    std::string text;
    const auto listed = store_->jobs();
    REQUIRE(listed.has_value());
    for (const store::Job& job : *listed) text += job.run + " " + job.holder + " " + std::to_string(job.attempts) + ";";
    return text;
  }

 private:
  std::filesystem::path folder_;
  std::unique_ptr<store::Store> store_;
};

}  // namespace

TEST_CASE("watchers: whoever waits for a job is woken when it is done, and nobody else") {
  Watchers watchers;
  std::vector<std::string> woken;
  const auto wait_for_job = [&](const std::string& run, std::optional<std::int64_t> rank) {
    auto completion = watchers.watch(name_of(run, rank));
    completion->on_finish([&woken, name = name_of(run, rank)] { woken.push_back(name); });
    return completion;
  };
  const std::vector<std::shared_ptr<Completion>> waiting = {wait_for_job("r1", std::nullopt), wait_for_job("r1", 0),
                                                            wait_for_job("r1", 0), wait_for_job("r2", std::nullopt)};
  CHECK(watchers.watched() == std::vector<std::string>{"r1", "r1 rank 0", "r2"});
  watchers.finish("r1 rank 0");
  CHECK(woken == std::vector<std::string>{"r1 rank 0", "r1 rank 0"});
  watchers.finish("r1 rank 0");
  watchers.finish("r3");
  CHECK(woken.size() == 2);
  CHECK(watchers.watched() == std::vector<std::string>{"r1", "r2"});
  const auto late = wait_for_job("r1", 0);  // another job by that name
  CHECK(woken.size() == 2);
  watchers.finish("r1");
  CHECK(woken.back() == "r1");
  CHECK(watchers.watched() == std::vector<std::string>{"r1 rank 0", "r2"});
}

TEST_CASE("watchers: who gave up is forgotten") {
  Watchers watchers;
  auto first = watchers.watch("r1");
  const auto second = watchers.watch("r1");
  first.reset();
  { const auto other = watchers.watch("r2"); }
  CHECK(watchers.watched() == std::vector<std::string>{"r1"});
  CHECK(second.use_count() == 2);
}

TEST_CASE("claims: no two are the same, and each is renewed until it is dropped") {
  OwnStore store;
  Claims claims(*store, "p", milliseconds{0});
  const store::Claim first = claims.next(), second = claims.next();
  CHECK(first.holder != second.holder);
  store.begin("r1", first);
  CHECK(claims.look().value().empty());
  CHECK(claims.look().value().empty());
  // The lease is over at once: somebody else takes the job.
  REQUIRE(store->claim_job({"other", milliseconds{60'000}}).value().has_value());
  CHECK(claims.look().value() == std::vector<std::string>{first.holder});
  CHECK(claims.look().value().empty());  // told once
  CHECK(store.jobs() == "r1 other 2;");
}

TEST_CASE("claims: what is given back is free, counted as it is said") {
  OwnStore store;
  Claims claims(*store, "p", milliseconds{60'000});
  const store::Claim claim = claims.next();
  store.begin("r1", claim);
  claims.release({claim.holder});
  CHECK(store.jobs() == "r1  0;");
  const store::Claim again = claims.next();
  REQUIRE(store->claim_job(again).value().has_value());
  claims.release({again.holder, store::Release::Attempt::failed, milliseconds{0}});
  CHECK(store.jobs() == "r1  7;");
  CHECK(claims.look().value().empty());
}
