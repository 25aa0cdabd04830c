// Blobs carry the name of the store that refers to them: what is another store's, or not there at all, is left alone.
#include <doctest/doctest.h>

#include "server/hash/sha256.hpp"
#include "server/spool/owned_blob_store.hpp"
#include "tests/blobs/blobs_under_test.hpp"

using namespace traceweir;
using namespace traceweir::blobs_test;
using namespace traceweir::spool;

namespace {

OwnedBlobStore owned(Place& place, const std::string& id, const std::string& newest_blob = "") {
  return {place.another(), BlobOwner{id, [newest_blob]() -> Result<std::string> { return newest_blob; }}};
}

template <typename Done>
bool is_refused(const Done& done) {
  return !done && done.error().code == ErrorCode::store_unavailable;
}

}  // namespace

TEST_CASE("owned blobs: a place without a name becomes the first store's, and no other one's") {
  in_each_place([](Place& place) {
    const std::string kept = place.keep("kept"), lost = hash::sha256_hex("lost");
    CHECK(place.blobs().owner().value() == "");
    OwnedBlobStore ours = owned(place, "ours", kept);
    CHECK(ours.ready());
    CHECK(place.blobs().owner().value() == "");  // nothing of ours came yet: whoever is first may have it
    CHECK(owned(place, "theirs", kept).ready());
    CHECK(ours.keep(place.spooled("ours")));
    CHECK(place.blobs().owner().value() == "ours");
    CHECK(owned(place, "ours", lost).ready());  // a trace that is lost later is no other place

    OwnedBlobStore theirs = owned(place, "theirs");
    place.age(std::chrono::hours{48});
    CHECK(is_refused(theirs.ready()));
    CHECK(is_refused(theirs.sweep(nobody, std::chrono::hours{24})));
    CHECK(is_refused(theirs.remove(kept, nobody, std::chrono::seconds{0})));
    CHECK(is_refused(theirs.fetch(lost)));
    CHECK(place.text_of(kept) == "kept");
    CHECK(ours.fetch(lost).error().code == ErrorCode::not_found);
    CHECK(ours.sweep(nobody, std::chrono::hours{24}).value() == 2);
  });
}

TEST_CASE("owned blobs: a place with neither a name nor the newest trace is not mounted") {
  in_each_place([](Place& place) {
    const std::string newest = hash::sha256_hex("newest");
    OwnedBlobStore ours = owned(place, "ours", newest);
    CHECK(is_refused(ours.ready()));
    CHECK(is_refused(ours.fetch(newest)));
    CHECK(place.blobs().owner().value() == "");
    place.keep("newest");  // now it is
    CHECK(ours.ready());
  });
}

TEST_CASE("owned blobs: another name can be written") {
  in_each_place([](Place& place) {
    REQUIRE(place.blobs().set_owner("first"));
    REQUIRE(place.blobs().set_owner("second"));
    CHECK(place.blobs().owner().value() == "second");
    CHECK(is_refused(owned(place, "first").ready()));
    CHECK(owned(place, "second").ready());
  });
}
