// Policy texts that are sent once and named by their hash from then on.
#include "tests/contract/samples.hpp"
#include "tests/contract/store_under_test.hpp"

using namespace traceweir;
using namespace traceweir::contract;
using namespace traceweir::store;

namespace {

constexpr const char* version_1 = "version = 1\n";
constexpr const char* version_1_hash = "dbab12665d98aef021ba64953c61b0ed8a908cfb56a1c01e2fcb4b052b71a2a1";
constexpr const char* empty_hash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr const char* other_hash = "436f6de28726501973ddd9fb91fa92c6ec6225e5c28d8fbdb698dc1720e43714";

}  // namespace

TEST_CASE("store: a policy is kept under its hash, and again is fine") {
  on_each_store([](StoreUnderTest& under_test) {
    {
      const auto store = under_test.open();
      add_project(*store);
      CHECK_FALSE(must(store->policy("llama", version_1_hash)).has_value());
      must(store->put_policy("llama", version_1_hash, version_1, at(1)));
      must(store->put_policy("llama", version_1_hash, version_1, at(2)));
      must(store->put_policy("llama", empty_hash, "", at(3)));
    }
    const auto store = under_test.open();
    CHECK(must(store->policy("llama", version_1_hash)) == version_1);
    CHECK(must(store->policy("llama", empty_hash)) == "");
    CHECK_FALSE(must(store->policy("llama", other_hash)).has_value());
    CHECK_FALSE(must(store->policy("llama", "")).has_value());
    CHECK_FALSE(must(store->policy("llama", "%")).has_value());
  });
}

TEST_CASE("store: a policy is only found by the project that put it") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    add_project(*store, "bert");
    must(store->put_policy("llama", version_1_hash, version_1, at(1)));
    CHECK_FALSE(must(store->policy("bert", version_1_hash)).has_value());
    CHECK_FALSE(must(store->policy("nowhere", version_1_hash)).has_value());
    CHECK_FALSE(must(store->policy("", version_1_hash)).has_value());

    // Why: the text is there already; the second project has to find it all the same.
    must(store->put_policy("bert", version_1_hash, version_1, at(2)));
    CHECK(must(store->policy("bert", version_1_hash)) == version_1);
    CHECK(must(store->policy("llama", version_1_hash)) == version_1);
  });
}

TEST_CASE("store: what is refused of policies leaves nothing behind") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    CHECK(error_of(store->put_policy("llama", version_1_hash, version_1, at(1))) == ErrorCode::not_found);
    add_project(*store);
    CHECK(error_of(store->put_policy("llama", other_hash, version_1, at(1))) == ErrorCode::hash_mismatch);
    CHECK(error_of(store->put_policy("llama", "short", version_1, at(1))) == ErrorCode::hash_mismatch);
    CHECK_FALSE(must(store->policy("llama", version_1_hash)).has_value());
    CHECK_FALSE(must(store->policy("llama", other_hash)).has_value());
  });
}
