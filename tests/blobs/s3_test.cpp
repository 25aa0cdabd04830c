#include <doctest/doctest.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "server/hash/sha256.hpp"
#include "server/s3/s3_blob_store.hpp"
#include "tests/blobs/blobs_under_test.hpp"

using namespace traceweir;
using namespace traceweir::blobs_test;
using namespace std::chrono_literals;

namespace {

/// More than two parts, no byte like its neighbours.
std::string large_text() {
  std::string text(2 * s3::part_bytes_min + 12'345, '\0');
  std::uint32_t state = 1;
  for (char& c : text) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  return text;
}

/// An error's text, of a Result that has to have one: what is wrong elsewhere is never the file's fault.
template <typename T>
std::string unavailable(const Result<T>& result) {
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().code == ErrorCode::store_unavailable);
  CHECK(result.error().message.starts_with("blob store: cannot be used now: "));
  CHECK(result.error().message.find("bPxRfiCY") == std::string::npos);
  return result.error().message;
}

std::unique_ptr<spool::BlobStore> opened(const Place& place, s3::Settings settings) {
  return s3::S3BlobStore::open(std::move(settings), place.folder.path(), 0).value();
}

bool nothing_in(const std::filesystem::path& folder) { return std::filesystem::is_empty(folder); }

}  // namespace

TEST_CASE("s3: a large upload goes in parts and comes back in pieces") {
  Place place(Kind::s3);
  const std::string text = large_text();
  const std::string sha256 = place.keep(text);
  CHECK(text_in(place.kept().front()) == text);
  CHECK((place.text_of(sha256) == text));
  CHECK(nothing_in(place.folder.path() / "s3" / "parts"));
  int parts = 0, pieces = 0;
  for (const std::string& request : place.s3->requests()) {
    parts += request.find("partNumber=") != std::string::npos ? 1 : 0;
    pieces += request.starts_with("GET /traces/team/blobs/") ? 1 : 0;
  }
  CHECK(parts == 3);
  CHECK(pieces == 3);
}

TEST_CASE("s3: what goes wrong for a while is tried again") {
  const std::vector<std::vector<std::string>> faults = {{"PUT 500", "GET 500"},
                                                        {"PUT 503 SlowDown", "PUT 503 SlowDown", "GET 503 SlowDown"},
                                                        {"PUT lost", "GET cut"},
                                                        {"GET wrong", "GET wrong"},
                                                        {"PUT cut", "GET 429 SlowDown"}};
  for (const auto& some : faults) {
    CAPTURE(some.front());
    Place place(Kind::s3);
    place.s3->fail(some);
    const std::string sha256 = place.keep("some bytes");
    // The first GET is a list, which cannot be damaged in one byte and still be one.
    CHECK(place.text_of(sha256) == "some bytes");
    CHECK(place.kept().size() == 1);
  }
}

TEST_CASE("s3: what goes wrong in the middle of parts is tried again, or nothing is left") {
  Place place(Kind::s3);
  const std::string text = large_text();
  place.s3->fail({"POST 500", "PUT 503 SlowDown", "PUT cut", "PUT lost"});
  CHECK((place.text_of(place.keep(text)) == text));

  Place broken(Kind::s3);
  broken.s3->fail({"!PUT 500"});
  unavailable(broken.blobs().keep(broken.spooled(text)));
  CHECK(broken.kept().empty());
  CHECK(nothing_in(broken.folder.path() / "s3" / "parts"));
  CHECK(nothing_in(broken.folder.path() / "spool" / "incoming"));
  broken.s3->fail({});
  CHECK((broken.text_of(broken.keep(text)) == text));
}

// Why: S3 answers 200 and then says that it failed; and an answer that got lost does not mean that nothing was done.
TEST_CASE("s3: whether parts were put together is looked at") {
  const std::string text = large_text();
  Place place(Kind::s3);
  place.s3->fail({"POST ok", "POST lost"});
  CHECK((place.text_of(place.keep(text)) == text));
  Place broken(Kind::s3);
  broken.s3->fail({"POST ok", "POST late_error"});
  CHECK(unavailable(broken.blobs().keep(broken.spooled(text))).find("InternalError") != std::string::npos);
  CHECK(broken.kept().empty());
}

TEST_CASE("s3: refusals are said, with what to look at, and not tried again") {
  struct Row {
    const char* name;
    void (*change)(s3::Settings&);
    const char* said;
  };
  const Row rows[] = {
      {"secret", [](s3::Settings& s) { s.credentials.environment.secret = "other"; }, "SignatureDoesNotMatch"},
      {"key id", [](s3::Settings& s) { s.credentials.environment.key_id = "other"; }, "InvalidAccessKeyId"},
      {"region", [](s3::Settings& s) { s.region = "us-east-1"; }, "s3_region is wrong"},
      {"bucket", [](s3::Settings& s) { s.place.bucket = "other"; }, "there is no such bucket"}};
  for (const Row& row : rows) {
    CAPTURE(row.name);
    Place place(Kind::s3);
    s3::Settings settings = place.s3->settings();
    row.change(settings);
    const auto blobs = opened(place, settings);
    CHECK_FALSE(blobs->ready());
    const std::size_t before = place.s3->requests().size();
    CHECK(unavailable(blobs->keep(place.spooled("x"))).find(row.said) != std::string::npos);
    CHECK(unavailable(blobs->fetch(hash::sha256_hex("x"))).find(row.said) != std::string::npos);
    CHECK(place.s3->requests().size() == before + 2);
  }
}

// Why: a redirect may lead anywhere, to addresses inside too.
TEST_CASE("s3: no redirect is followed") {
  Place place(Kind::s3);
  place.s3->fail({"!PUT redirect"});
  CHECK(unavailable(place.blobs().keep(place.spooled("x"))).find("redirects are not followed") != std::string::npos);
  CHECK(place.s3->requests().size() == 1);
}

TEST_CASE("s3: bytes that were changed there are never read, and no copy of them is kept") {
  Place place(Kind::s3);
  s3::Settings settings = place.s3->settings();
  settings.cache_bytes_max = 1 << 20;
  const std::string sha256 = place.keep("some bytes");
  std::ofstream(place.kept().front(), std::ios::trunc) << "SOME bytes";
  const auto blobs = opened(place, settings);
  const auto blob = blobs->fetch(sha256);
  REQUIRE_FALSE(blob.has_value());
  CHECK(blob.error().code == ErrorCode::io_failed);
  place.keep("some bytes");  // one that is sound beside it
  CHECK(text_in(blobs->fetch(sha256).value().path()) == "some bytes");
}

TEST_CASE("s3: copies are read without the store, up to their limit, and go with the blob") {
  Place place(Kind::s3);
  s3::Settings settings = place.s3->settings();
  settings.cache_bytes_max = 25;
  const auto blobs = opened(place, settings);
  std::vector<std::string> kept;
  for (const char* text : {"ten bytes1", "ten bytes2", "ten bytes3"}) {
    spool::SpooledFile file = place.spooled(text);
    kept.push_back(file.sha256());
    REQUIRE(blobs->keep(std::move(file)));
  }
  place.s3->fail({"!* 500"});
  CHECK(text_in(blobs->fetch(kept[2]).value().path()) == "ten bytes3");
  unavailable(blobs->fetch(kept[0]));  // the longest unused one went
  const auto in_use = blobs->fetch(kept[1]).value();
  place.s3->fail({});
  place.age(48h);
  CHECK(blobs->sweep([](std::string_view) { return false; }).value() == 3);
  CHECK(text_in(in_use.path()) == "ten bytes2");  // who reads it is not disturbed
  CHECK_FALSE(blobs->fetch(kept[2]));
}

TEST_CASE("s3: slow and silent stores cost no more than their time") {
  Place place(Kind::s3);
  const std::string sha256 = place.keep(std::string(2000, 'x'));
  s3::Settings settings = place.s3->settings();
  settings.time_max = 300ms;
  settings.tries_max = 2;
  for (const char* fault : {"!GET hang", "!GET slow"}) {
    CAPTURE(fault);
    place.s3->fail({fault});
    const auto begun = std::chrono::steady_clock::now();
    CHECK(unavailable(opened(place, settings)->fetch(sha256)).find("no answer within 300 ms") != std::string::npos);
    CHECK(std::chrono::steady_clock::now() - begun < 10s);
  }
}

TEST_CASE("s3: who waits for the store is broken off when the service stops") {
  Place place(Kind::s3);
  place.s3->fail({"!* hang"});
  const auto begun = std::chrono::steady_clock::now();
  std::thread stopper([&] {
    while (place.s3->requests().empty()) std::this_thread::yield();
    place.blobs().stop();
  });
  CHECK(unavailable(place.blobs().keep(place.spooled("x"))).find("the service stops") != std::string::npos);
  stopper.join();
  unavailable(place.blobs().keep(place.spooled("x")));
  CHECK(std::chrono::steady_clock::now() - begun < 10s);
}

TEST_CASE("s3: a store that is not there costs a few short tries") {
  Place place(Kind::s3);
  s3::Settings settings = place.s3->settings();
  settings.endpoint.port = "1";
  const auto blobs = opened(place, settings);
  CHECK_FALSE(blobs->ready());
  unavailable(blobs->keep(place.spooled("x")));
}

// Why: a certificate that nobody vouches for may be anybody's.
TEST_CASE("s3: plain HTTP where TLS is asked for is refused") {
  Place place(Kind::s3);
  s3::Settings settings = place.s3->settings();
  settings.endpoint.scheme = s3::Endpoint::Scheme::https;
  settings.tries_max = 1;
  unavailable(opened(place, settings)->keep(place.spooled("x")));
  CHECK(place.s3->requests().empty());
}
