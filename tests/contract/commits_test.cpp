// The commit graph.
#include <thread>

#include "tests/contract/samples.hpp"
#include "tests/contract/store_under_test.hpp"

using namespace traceweir;
using namespace traceweir::contract;
using namespace traceweir::store;

namespace {

using Shas = std::vector<std::string>;

void put(Store& store, std::initializer_list<Commit> commits) {
  must(store.put_commits("llama", std::vector<Commit>(commits)));
}

}  // namespace

TEST_CASE("store: a commit is kept whole, and only in its project") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    add_project(*store, "bert");
    put(*store, {{"c", {"b", "x"}, at(3), "third", "ann"}});
    const Commit kept = must(store->commit("llama", "c")).value();
    CHECK(kept.sha == "c");
    CHECK(kept.parents == Shas{"b", "x"});
    CHECK(kept.committed_at == at(3));
    CHECK(kept.subject == "third");
    CHECK(kept.author == "ann");
    CHECK_FALSE(must(store->commit("llama", "b")).has_value());
    CHECK_FALSE(must(store->commit("bert", "c")).has_value());
    CHECK_FALSE(must(store->commit("nowhere", "c")).has_value());
  });
}

TEST_CASE("store: commits fill in what was unknown and never empty or change what is known") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    put(*store, {{"c", {}, std::nullopt, "", ""}});
    put(*store, {{"c", {"b"}, std::nullopt, "third", ""}});
    put(*store, {{"c", {}, at(3), "", "ann"}});
    put(*store, {{"c", {"z", "y"}, at(9), "changed", "eve"}});
    put(*store, {{"c", {}, std::nullopt, "", ""}});
    const Commit kept = must(store->commit("llama", "c")).value();
    CHECK(kept.parents == Shas{"b"});
    CHECK(kept.committed_at == at(3));
    CHECK(kept.subject == "third");
    CHECK(kept.author == "ann");
  });
}

// Why: a job of a pull request runs a stranger's code, and tells of commits before the branch's own job does.
TEST_CASE("store: what a change says of a commit stands until somebody whose word counts names it") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    const auto propose = [&](std::initializer_list<Commit> commits) {
      must(store->propose_commits("llama", std::vector<Commit>(commits)));
    };
    const auto known = [&](const char* sha) { return must(store->commit("llama", sha)).value(); };
    propose({{"c", {"lie"}, at(1), "", "eve"}, {"d", {"c"}, at(4), "mine", "ann"}, {"e", {"lie"}, at(1), "", "eve"}});
    propose({{"c", {"other"}, at(2), "late", "bob"}});
    CHECK(known("c").parents == Shas{"lie"});
    CHECK(known("c").committed_at == at(1));
    CHECK(known("c").subject == "late");
    CHECK(must(store->first_parents("llama", "d", 10)) == Shas{"d", "c", "lie"});

    put(*store,
        {{"c", {"b", "x"}, at(3), "third", "ann"}, {"e", {}, std::nullopt, "", ""}, {"f", {"e"}, at(5), "", ""}});
    CHECK(known("c").parents == Shas{"b", "x"});
    CHECK(known("c").committed_at == at(3));
    CHECK(known("c").subject == "third");
    CHECK(known("c").author == "ann");
    CHECK(known("e").parents.empty());
    CHECK_FALSE(known("e").committed_at.has_value());
    CHECK(known("e").author.empty());
    CHECK(known("d").parents == Shas{"c"});  // nobody else named it

    propose(
        {{"c", {"lie"}, at(1), "again", "eve"}, {"e", {"lie"}, at(1), "again", "eve"}, {"f", {}, at(9), "again", ""}});
    CHECK(known("c").parents == Shas{"b", "x"});
    CHECK(known("e").parents.empty());
    CHECK(known("e").subject.empty());
    CHECK(known("f").subject.empty());
    put(*store, {{"e", {"c"}, at(4), "", ""}});
    CHECK(known("e").parents == Shas{"c"});
    CHECK(must(store->first_parents("llama", "f", 10)) == Shas{"f", "e", "c", "b"});
  });
}

TEST_CASE("store: commits of no project are refused, and no commits are fine") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    const Commit commit{"c", {}, std::nullopt, "", ""};
    CHECK(error_of(store->propose_commits("llama", std::span(&commit, 1))) == ErrorCode::not_found);
    CHECK(error_of(store->put_commits("llama", std::span(&commit, 1))) == ErrorCode::not_found);
    add_project(*store);
    put(*store, {});
  });
}

TEST_CASE("store: first parents, as far as they are known") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    // d is a merge: its second parent x is not of the line. `a` is named, but was never described.
    put(*store, {{"e", {"d"}, std::nullopt, "", ""},
                 {"d", {"c", "x"}, std::nullopt, "", ""},
                 {"c", {"b"}, std::nullopt, "", ""},
                 {"x", {"b"}, std::nullopt, "", ""},
                 {"b", {"a"}, std::nullopt, "", ""},
                 {"loop1", {"loop2"}, std::nullopt, "", ""},
                 {"loop2", {"loop1"}, std::nullopt, "", ""},
                 {"self", {"self"}, std::nullopt, "", ""}});
    struct Row {
      const char* start;
      std::int64_t limit;
      Shas want;
    };
    const Row rows[] = {
        {"e", 100, {"e", "d", "c", "b", "a"}},
        {"e", 3, {"e", "d", "c"}},
        {"e", 0, {}},
        {"e", -5, {}},
        {"b", 100, {"b", "a"}},
        {"a", 100, {}},
        {"unknown", 100, {}},
        {"loop1", 100, {"loop1", "loop2"}},
        {"self", 100, {"self"}},
    };
    for (const Row& row : rows) {
      CAPTURE(row.start);
      CAPTURE(row.limit);
      CHECK(must(store->first_parents("llama", row.start, row.limit)) == row.want);
    }
    CHECK(must(store->first_parents("nowhere", "e", 100)).empty());
  });
}

TEST_CASE("store: one call may name a commit twice, and what is known first stays") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    put(*store, {{"c", {}, std::nullopt, "", "ann"}, {"b", {"a"}, at(1), "", ""}, {"c", {"b"}, at(3), "third", "eve"}});
    const Commit kept = must(store->commit("llama", "c")).value();
    CHECK(kept.parents == Shas{"b"});
    CHECK(kept.committed_at == at(3));
    CHECK(kept.subject == "third");
    CHECK(kept.author == "ann");
  });
}

TEST_CASE("store: commits that are put at once, in any order, are kept whole") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    std::vector<std::thread> threads;
    std::vector<Result<void>> done(8);
    for (std::size_t t = 0; t < done.size(); ++t)
      threads.emplace_back([&store, &end = done[t], t] {
        std::vector<Commit> commits;
        for (int i = 0; i < 200; ++i) {
          const std::string mark = std::to_string(t) + "/" + std::to_string(i);
          commits.push_back({"c" + std::to_string(t % 2 == 0 ? i : 199 - i), {mark + "a", mark + "b"}, {}, "", ""});
        }
        end = store->put_commits("llama", commits);
      });
    for (std::thread& thread : threads) thread.join();
    for (const auto& end : done) must(end);
    for (int i = 0; i < 200; ++i) {
      const Shas parents = must(store->commit("llama", "c" + std::to_string(i))).value().parents;
      REQUIRE(parents.size() == 2);
      CHECK(parents[0].substr(0, parents[0].size() - 1) == parents[1].substr(0, parents[1].size() - 1));
    }
  });
}
