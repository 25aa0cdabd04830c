#include "server/http/visitors.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

#include "server/http/addresses.hpp"
#include "server/http/rates.hpp"

using namespace traceweir;
using namespace traceweir::http;
using namespace std::chrono_literals;

namespace {

boost::asio::ip::address address(const std::string& text) { return boost::asio::ip::make_address(text); }

std::string client(const std::string& peer, const std::vector<Header>& headers, const char* trusted) {
  return client_of(address(peer), headers, Networks::parse(trusted).value()).to_string();
}

}  // namespace

TEST_CASE("networks: what is in them") {
  const Networks networks = Networks::parse(" 10.0.0.7,192.168.0.0/16, fd00::/8 ,, 2001:db8::1").value();
  for (const char* in : {"10.0.0.7", "192.168.255.1", "fdff::1", "2001:db8::1", "::ffff:10.0.0.7"})
    CHECK_MESSAGE(networks.contain(address(in)), in);
  for (const char* out : {"10.0.0.8", "192.169.0.0", "fe00::1", "2001:db8::2", "::1", "0.0.0.0"})
    CHECK_MESSAGE(!networks.contain(address(out)), out);
  CHECK(Networks::parse("0.0.0.0/0")->contain(address("203.0.113.9")));
  CHECK_FALSE(Networks::parse("0.0.0.0/0")->contain(address("2001:db8::1")));
  CHECK_FALSE(Networks().contain(address("127.0.0.1")));
}

TEST_CASE("networks: what is none") {
  for (const char* text : {"localhost", "10.0.0", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/x", "fd00::/129", "/8",
                           "10.0.0.0/-1", "fe80::1%eth0", "1.2.3.4 5.6.7.8"})
    CHECK_MESSAGE(!Networks::parse(text), text);
}

TEST_CASE("client: what counts as one") {
  CHECK(client_key(address("203.0.113.9")) == "203.0.113.9");
  CHECK(client_key(address("::ffff:203.0.113.9")) == "203.0.113.9");
  CHECK(client_key(address("2001:db8:1:2:3:4:5:6")) == "2001:db8:1:2::/64");
  CHECK(client_key(address("2001:db8:1:2:ffff::")) == client_key(address("2001:db8:1:2:3:4:5:6")));
}

// Why: whatever stands left of the last untrusted address, a stranger wrote.
TEST_CASE("client: behind a trusted proxy it is the last address that is none") {
  const std::vector<Header> forged = {{"x-forwarded-for", "1.1.1.1, 203.0.113.9"}};
  CHECK(client("192.0.2.1", forged, "") == "192.0.2.1");
  CHECK(client("192.0.2.1", forged, "10.0.0.0/8") == "192.0.2.1");
  CHECK(client("10.0.0.1", forged, "10.0.0.0/8") == "203.0.113.9");
  CHECK(client("10.0.0.1", {}, "10.0.0.0/8") == "10.0.0.1");
  CHECK(client("10.0.0.1", {{"x-forwarded-for", "203.0.113.9"}, {"x-forwarded-for", "10.0.0.2"}}, "10.0.0.0/8") ==
        "203.0.113.9");
  CHECK(client("10.0.0.1", {{"x-forwarded-for", "203.0.113.9:4711"}}, "10.0.0.0/8") == "203.0.113.9");
  CHECK(client("10.0.0.1", {{"x-forwarded-for", "[2001:db8::1]:4711"}}, "10.0.0.0/8") == "2001:db8::1");
  CHECK(client("10.0.0.1", {{"x-forwarded-for", "203.0.113.9, unknown"}}, "10.0.0.0/8") == "10.0.0.1");
  CHECK(client("::ffff:10.0.0.1", {{"x-forwarded-for", "203.0.113.9"}}, "10.0.0.0/8") == "203.0.113.9");
}

TEST_CASE("rates: a bucket that fills again") {
  RateTable table({2, 3}, 100);
  const auto start = RateTable::Clock::now();
  for (int i = 0; i < 3; ++i) CHECK(table.take("a", start).count() == 0);
  CHECK(table.take("a", start).count() == doctest::Approx(0.5));
  CHECK(table.wait("a", start + 250ms).count() == doctest::Approx(0.25));
  CHECK(table.take("a", start + 500ms).count() == 0);
  CHECK(table.take("a", start + 500ms).count() == doctest::Approx(0.5));
  CHECK(table.take("b", start).count() == 0);
  for (int i = 0; i < 3; ++i) CHECK(table.take("a", start + 1h).count() == 0);
  CHECK(table.take("a", start + 1h).count() > 0);
}

TEST_CASE("rates: memory has an end, and who was not seen for longest is forgotten") {
  RateTable table({0.001, 1}, 3);
  const auto now = RateTable::Clock::now();
  for (const char* name : {"a", "b", "c"}) CHECK(table.take(name, now).count() == 0);
  CHECK(table.take("a", now).count() > 0);
  CHECK(table.take("d", now).count() == 0);
  CHECK(table.size() == 3);
  CHECK(table.take("a", now).count() > 0);
  CHECK(table.take("b", now).count() == 0);
  for (int i = 0; i < 1000; ++i) table.take("x" + std::to_string(i), now);
  CHECK(table.size() == 3);
  CHECK(table.wait("nobody", now).count() == 0);
  CHECK(table.size() == 3);
}

TEST_CASE("visitors: tries with wrong tokens, at most so many in any minute") {
  HttpLimits limits;
  limits.failed_authentications_max = 20;
  Visitors visitors(limits);
  const auto start = Visitors::Clock::now();
  int said = 0;
  for (int tenth = 0; tenth < 600; ++tenth) {
    const auto now = start + tenth * 100ms;
    const std::string token = "Bearer guess" + std::to_string(tenth);
    if (!visitors.ask("a", token, now) && !visitors.was_wrong("a", token, now)) ++said;
  }
  CHECK(said <= 20);
  CHECK(said >= 19);
  CHECK_FALSE(visitors.ask("b", "Bearer guess", start));
}

// Why: as many guesses as an address has connections may be under way before the first of them is found wrong.
TEST_CASE("visitors: of tries that come in at once no more are told than of those one after the other") {
  HttpLimits limits;
  limits.failed_authentications_max = 20;
  Visitors visitors(limits);
  const auto now = Visitors::Clock::now();
  const auto guess = [](int n) { return "Bearer guess" + std::to_string(n); };
  REQUIRE_FALSE(visitors.ask("b", "Bearer neighbour", now));
  CHECK_FALSE(visitors.was_valid("b", "Bearer neighbour", now));
  for (int n = 0; n < 256; ++n) REQUIRE_FALSE(visitors.ask("a", guess(n), now));
  int told = 0;
  for (int n = 0; n < 255; ++n) told += visitors.was_wrong("a", guess(n), now) ? 0 : 1;
  CHECK(told == 10);
  const auto right = visitors.was_valid("a", guess(255), now);
  REQUIRE(right);
  CHECK(right->why.find("failed_authentications_max = 20") != std::string::npos);
  CHECK(visitors.ask("a", guess(255), now));  // nor is it remembered
  CHECK_FALSE(visitors.ask("a", "Bearer neighbour", now));
  CHECK_FALSE(visitors.was_valid("a", "Bearer neighbour", now));
  CHECK_FALSE(visitors.was_valid("a", guess(255), now + 10s));
}

TEST_CASE("visitors: no limit of requests where it is 0") {
  HttpLimits limits;
  limits.requests_per_address_max = 0;
  Visitors visitors(limits);
  for (int i = 0; i < 10'000; ++i) REQUIRE_FALSE(visitors.ask("a", "", Visitors::Clock::now()));
}
