#include <doctest/doctest.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "server/hash/sha256.hpp"
#include "tests/blobs/blobs_under_test.hpp"

using namespace traceweir;
using namespace traceweir::blobs_test;
using namespace std::chrono_literals;

namespace {

const auto somebody = [](std::string_view) { return true; };

std::size_t files_below(const std::filesystem::path& folder) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    count += std::size_t{entry.is_regular_file()};
  return count;
}

}  // namespace

TEST_CASE("blobs: kept under their hash, and given back") {
  in_each_place([](Place& place) {
    CHECK(place.blobs().ready());
    CHECK(place.text_of(hash::sha256_hex("abc")) == std::nullopt);
    const std::string sha256 = place.keep("abc");
    CHECK(place.text_of(sha256) == "abc");
    CHECK(place.another()->fetch(sha256).has_value());
    CHECK(files_below(place.folder.path() / "spool") == 0);  // neither the upload nor what was fetched is left
  });
}

// Why: a hash comes from a client's path; nothing else may ever become a file name or a key.
TEST_CASE("blobs: what is no hash is not found and not removed") {
  in_each_place([](Place& place) {
    for (const char* text : {"", "../spool", "ba", "/etc/passwd", "."}) {
      CHECK(place.text_of(text) == std::nullopt);
      CHECK(place.blobs().remove(text, nobody));
    }
  });
}

TEST_CASE("blobs: the sweep takes what is old and nobody's") {
  in_each_place([](Place& place) {
    const std::string owned = place.keep("owned"), orphan = place.keep("orphan");
    for (const char* more : {"a", "b", "c", "d", "e"}) place.keep(more);
    place.age(48h);
    const std::string young = place.keep("young");
    const auto is_owned = [&](std::string_view sha256) { return sha256 == owned; };
    CHECK(place.blobs().sweep(is_owned).value() == 6);
    CHECK(place.text_of(owned) == "owned");
    CHECK(place.text_of(young) == "young");
    CHECK(place.text_of(orphan) == std::nullopt);
    CHECK(place.blobs().sweep(is_owned).value() == 0);
  });
}

TEST_CASE("blobs: one is removed with its last reference, when it is not young") {
  in_each_place([](Place& place) {
    const std::string sha256 = place.keep("abc");
    CHECK(place.blobs().remove(sha256, nobody));
    CHECK(place.text_of(sha256) == "abc");
    place.age(2h);
    CHECK(place.blobs().remove(sha256, somebody));
    CHECK(place.text_of(sha256) == "abc");
    CHECK(place.blobs().remove(sha256, nobody));
    CHECK(place.text_of(sha256) == std::nullopt);
    CHECK(place.blobs().remove(sha256, nobody));
  });
}

// Why: an upload of the same bytes may come in at any moment of a removal: what it was told is kept must stay.
TEST_CASE("blobs: what comes back while it is removed stays") {
  in_each_place([](Place& place) {
    for (const bool is_sweep : {false, true}) {
      const std::string sha256 = place.keep("again");
      place.age(48h);
      const auto other = place.another();
      const auto comes_back = [&](std::string_view) {
        REQUIRE(other->keep(place.spooled("again")));
        return false;
      };
      if (is_sweep)
        CHECK(place.blobs().sweep(comes_back));
      else
        CHECK(place.blobs().remove(sha256, comes_back));
      CHECK(place.text_of(sha256) == "again");
    }
  });
}

// Why: many processes keep, remove and sweep at once; whoever kept and then wrote a row must find the blob.
TEST_CASE("blobs: kept and removed by many at once") {
  in_each_place([](Place& place) {
    constexpr int rounds = 30;
    std::atomic<bool> is_referred_to = false, ended = false;
    const std::string sha256 = hash::sha256_hex("shared");
    const auto is_owned = [&](std::string_view) { return is_referred_to.load(); };
    std::vector<std::thread> removers;
    for (int number = 0; number < 2; ++number)
      removers.emplace_back([&, blobs = place.another()] {
        while (!ended) static_cast<void>(blobs->remove(sha256, is_owned)), static_cast<void>(blobs->sweep(is_owned));
      });
    int found = 0;
    for (int round = 0; round < rounds; ++round) {
      const bool kept = place.blobs().keep(place.spooled("shared")).has_value();
      is_referred_to = true;  // the row
      found += kept && place.blobs().fetch(sha256).has_value() ? 1 : 0;
      is_referred_to = false;
      place.age(48h);
    }
    ended = true;
    for (std::thread& remover : removers) remover.join();
    CHECK(found == rounds);
  });
}

TEST_CASE("blobs: equal uploads at once are one blob") {
  in_each_place([](Place& place) {
    std::vector<std::thread> uploaders;
    std::atomic<int> kept = 0;
    for (int number = 0; number < 8; ++number)
      uploaders.emplace_back([&] { kept += place.blobs().keep(place.spooled("equal")) ? 1 : 0; });
    for (std::thread& uploader : uploaders) uploader.join();
    CHECK(kept == 8);
    CHECK(place.text_of(hash::sha256_hex("equal")) == "equal");
    place.age(48h);
    CHECK(place.blobs().sweep(somebody));
    CHECK(place.kept().size() == 1);
    CHECK(place.text_of(hash::sha256_hex("equal")) == "equal");
  });
}
