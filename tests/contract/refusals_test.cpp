// What would be refused can be asked before anything is kept.
#include <utility>

#include "server/store/run_group.hpp"
#include "tests/contract/samples.hpp"
#include "tests/contract/store_under_test.hpp"

using namespace traceweir;
using namespace traceweir::contract;
using namespace traceweir::store;

// Why: what is refused after its file was kept would leave that file for a day.
TEST_CASE("store: what would be refused is told without a trace of it, and as begin_run() tells it") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    RunHead keyed = plain_head("r1");
    keyed.idempotency_key = "k";
    RunHead grouped = plain_head("g1");
    grouped.run_key = "ranks";
    grouped.ranks_expected = 2;
    grouped.group = group_of(grouped);
    must(store->check_run(keyed, upload_of("a")));
    must(store->check_run(grouped, upload_of("a")));
    CHECK_FALSE(must(store->run("llama", "r1")).has_value());
    must(store->begin_run(keyed, upload_of("a")));
    must(store->begin_run(grouped, upload_of("a")));
    keyed.id = "r2";
    grouped.id = "g2";

    Upload second = upload_of("b"), third = upload_of("b");
    second.rank = 1;
    third.rank = 2;
    RunHead elsewhere = keyed, both = grouped, other = grouped;
    elsewhere.commit = "elsewhere";
    both.idempotency_key = "k";
    other.branch = "other";
    const std::pair<RunHead, Upload> uploads[] = {{keyed, upload_of("a")},
                                                  {keyed, upload_of("b")},
                                                  {elsewhere, upload_of("a")},
                                                  {grouped, upload_of("a")},
                                                  {grouped, upload_of("b")},
                                                  {grouped, third},
                                                  {both, second},
                                                  {other, second},
                                                  {grouped, second}};
    for (const auto& [head, upload] : uploads) {
      CAPTURE(head.idempotency_key);
      CAPTURE(head.branch);
      CAPTURE(upload.sha256);
      CAPTURE(upload.rank);
      const auto foretold = store->check_run(head, upload);
      const auto begun = store->begin_run(head, upload);
      REQUIRE(foretold.has_value() == begun.has_value());
      if (!begun) CHECK(foretold.error().message == begun.error().message);
      if (!begun) CHECK(foretold.error().code == begun.error().code);
    }
    RunHead nobodys = keyed;
    nobodys.project = "nobody";
    must(store->check_run(nobodys, upload_of("b")));  // that is for begin_run() to say
  });
}
