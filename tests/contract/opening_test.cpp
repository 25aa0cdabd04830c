// Opening a store: again, twice, beside a service, with a newer schema, and by what URL.
#include <thread>

#include "tests/contract/samples.hpp"
#include "tests/contract/store_under_test.hpp"

using namespace traceweir;
using namespace traceweir::contract;
using namespace traceweir::store;

TEST_CASE("store: opening it again finds everything") {
  on_each_store([](StoreUnderTest& under_test) {
    std::string before, line;
    {
      const auto store = under_test.open();
      add_project(*store);
      add_run(*store, full_head("r1"), full_result("r1"));
      const Commit commit{"sha-r1", {"p"}, at(1), "s", "a"};
      must(store->put_commits("llama", std::span(&commit, 1)));
      before = text_of(must(store->run("llama", "r1")).value());
    }
    const auto store = under_test.open();
    CHECK(text_of(must(store->run("llama", "r1")).value()) == before);
    CHECK(must(store->baseline({.project = "llama", .workload = "ddp", .branch = "main", .comparable_key = "a100"}))
              .at(0)
              .values.size() == 3);
    CHECK(must(store->history({"llama", "ddp", "main", "step.time_p50", 10})).at(0).committed_at == at(1));
    CHECK(must(store->first_parents("llama", "sha-r1", 9)).size() == 2);
    CHECK(must(store->audit("llama", 9)).size() == 1);
    CHECK(under_test.damage() == "");
  });
}

TEST_CASE("store: a second service is refused unless the store is shared, a command beside the first never is") {
  on_each_store([](StoreUnderTest& under_test) {
    auto service = under_test.open(Opening::service);
    add_project(*service);
    const auto check_second = [&] {
      auto second = open_store(under_test.url(), Opening::service);
      if (is_shared(under_test.url()))
        CHECK(must(must(std::move(second))->project("llama")).has_value());
      else
        CHECK(error_of(second) == ErrorCode::store_unavailable);
    };
    check_second();
    {
      const auto command = under_test.open(Opening::beside_service);
      Token token;
      token.id = "t1";
      token.project = "llama";
      must(command->add_token(token, audit_entry("token")));
      add_project(*command, "bert");
    }
    // The service sees at once what the command wrote, and goes on after the command has closed the store.
    CHECK(must(service->token("t1")).has_value());
    CHECK(must(service->project("bert")).has_value());
    add_run(*service, plain_head("r1"), plain_result("r1"));
    check_second();

    service.reset();
    CHECK(must(under_test.open(Opening::service)->run("llama", "r1")).has_value());
  });
}

TEST_CASE("store: a command may come before the first service") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto command = under_test.open(Opening::beside_service);
    add_project(*command);
    const auto service = under_test.open(Opening::service);
    CHECK(must(service->project("llama")).has_value());
  });
}

TEST_CASE("store: many programs may open a new store at once") {
  on_each_store([](StoreUnderTest& under_test) {
    std::vector<Result<std::unique_ptr<Store>>> stores(6);
    std::vector<std::thread> threads;
    for (auto& store : stores)
      threads.emplace_back([&store, &under_test] { store = open_store(under_test.url(), Opening::beside_service); });
    for (std::thread& thread : threads) thread.join();
    for (std::size_t i = 0; i < stores.size(); ++i) {
      REQUIRE_MESSAGE(stores[i].has_value(), stores[i].error().message);
      add_project(**stores[i], "p" + std::to_string(i));
    }
    CHECK(must((*stores[0])->projects()).size() == stores.size());
    CHECK(under_test.damage() == "");
  });
}

TEST_CASE("store: a newer schema is refused and left alone") {
  on_each_store([](StoreUnderTest& under_test) {
    under_test.open().reset();
    under_test.execute("INSERT INTO schema_version (version, name, sha256, applied_us) VALUES (9000, 'V9000', '', 0)");
    for (const Opening opening : {Opening::service, Opening::beside_service}) {
      const auto refused = open_store(under_test.url(), opening);
      CHECK(error_of(refused) == ErrorCode::store_unavailable);
      CHECK(refused.error().message.find("newer") != std::string::npos);
    }
    CHECK(under_test.damage() == "");
  });
}

TEST_CASE("store: URLs of no store are refused, and a password in them is not repeated") {
  for (const char* url :
       {"", "sqlite", "mysql://root:hunter2@db/x", "/var/lib/store.db", "sqlite:", "sqlite::memory:", "postgresql:/x",
        "postgres://a:hun@ter2@db/x", "postgresql://a:hunter2/3@db/x", "postgresql://a:hunter2%zz@db"}) {
    CAPTURE(url);
    const auto refused = open_store(url, Opening::service);
    CHECK(error_of(refused) == ErrorCode::bad_config);
    CHECK(refused.error().message.find("hunter2") == std::string::npos);
  }
}
