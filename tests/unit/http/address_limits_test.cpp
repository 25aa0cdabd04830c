#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <thread>

#include "tests/unit/http/raw_client.hpp"
#include "tests/unit/http/test_server.hpp"

using namespace traceweir;
using namespace traceweir::http;
using namespace std::chrono_literals;

namespace {

std::string request(std::string_view verb, std::string_view target, std::string_view fields) {
  const std::string length = verb == "POST" ? "Content-Length: 0\r\n" : "";
  return std::string(verb) + " " + std::string(target) + " HTTP/1.1\r\nHost: h\r\n" + length + std::string(fields) +
         "\r\n";
}

std::string getting(std::string_view target, std::string_view fields = "") { return request("GET", target, fields); }
std::string posting(std::string_view target, std::string_view fields) { return request("POST", target, fields); }

}  // namespace

TEST_CASE("listener: an address has its share of the connections") {
  HttpLimits limits;
  limits.connections_per_address_max = 1;
  TestServer server(limits);
  {
    RawClient first(server.port());
    CHECK(first.ask(getting("/hello")).status == 200);
    RawClient second(server.port());
    const Answer answer = second.answer();
    CHECK(answer.status == 503);
    CHECK(contains(answer.body, "connections_per_address_max"));
    CHECK(second.is_at_end());
  }
  CHECK(falls_to(server, 0));
  RawClient third(server.port());
  CHECK(third.ask(getting("/hello")).status == 200);
}

TEST_CASE("listener: an address that asks too often is told when to come again") {
  HttpLimits limits;
  limits.requests_per_address_max = 1;
  TestServer server(limits);
  RawClient client(server.port());
  Answer answer;
  for (int i = 0; i < 100 && answer.status != 429; ++i) answer = client.ask(getting("/hello"));
  CHECK(answer.status == 429);
  CHECK(answer.fields.at("retry-after") == "1");
  CHECK(contains(answer.body, "requests_per_address_max = 1"));
  CHECK(answer.fields.at("connection") == "keep-alive");
}

// Why: guesses must have an end, and a neighbour's expired token must not lock out who has a good one.
TEST_CASE("listener: who guesses tokens is no longer listened to") {
  HttpLimits limits;
  limits.failed_authentications_max = 6;
  TestServer server(limits);
  RawClient client(server.port());
  const std::string good = "Authorization: Bearer good\r\n";
  CHECK(client.ask(getting("/known", good)).status == 200);
  const auto guess = [&](int n) {
    return client.ask(posting("/refuse", "Authorization: Bearer guess-" + std::to_string(n) + "\r\n"));
  };
  for (int n = 0; n < 3; ++n) CHECK(guess(n).status == 401);
  const Answer refused = guess(3);
  CHECK(refused.status == 429);
  CHECK(contains(refused.body, "failed_authentications_max = 6"));
  CHECK_FALSE(contains(refused.body, "guess"));
  CHECK(client.ask(getting("/hello", "Authorization: Bearer unknown\r\n")).status == 429);
  CHECK(client.ask(getting("/hello")).status == 200);
  CHECK(client.ask(getting("/known", good)).status == 200);
  // A token that was good and is no longer is a guess like any other.
  CHECK(client.ask(posting("/refuse", good)).status == 429);
  CHECK(client.ask(getting("/known", good)).status == 429);
}
