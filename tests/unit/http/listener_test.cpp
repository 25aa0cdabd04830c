#include "server/http/listener.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/unit/http/raw_client.hpp"
#include "tests/unit/http/test_server.hpp"

using namespace traceweir;
using namespace traceweir::http;
using namespace std::chrono_literals;

namespace {

std::string get(std::string_view target, std::string_view fields = "") {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: h\r\n" + std::string(fields) + "\r\n";
}

std::string put(std::string_view target, std::string_view body, std::string_view fields = "") {
  return "PUT " + std::string(target) + " HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n" + std::string(fields) + "\r\n" + std::string(body);
}

std::string post(std::string_view target, std::string_view body, std::string_view fields = "") {
  return "POST" + put(target, body, fields).substr(3);
}

}  // namespace

TEST_CASE("listener: an answer carries what every answer must") {
  TestServer server;
  RawClient client(server.port());
  const Answer answer = client.ask(get("/hello"));
  CHECK(answer.status == 200);
  CHECK(answer.body == "hello");
  CHECK(answer.fields.at("content-type") == "text/plain");
  CHECK(answer.fields.at("x-request-id") == "id-1");
  CHECK(contains(answer.fields.at("content-security-policy"), "default-src 'none'"));
  CHECK(answer.fields.at("x-content-type-options") == "nosniff");
  CHECK(answer.fields.at("referrer-policy") == "no-referrer");
  CHECK(answer.fields.at("cross-origin-opener-policy") == "same-origin");
  CHECK(answer.fields.at("cache-control") == "no-store");
  CHECK(answer.fields.at("connection") == "keep-alive");
  CHECK(contains(answer.fields.at("date"), " GMT"));
}

TEST_CASE("listener: one connection, many requests, also in one piece") {
  TestServer server;
  RawClient client(server.port());
  CHECK(client.ask(get("/hello")).body == "hello");
  client.send(get("/things/a") + put("/count", "ab") + get("/things/b"));
  CHECK(client.answer().body == "a");
  CHECK(client.answer().body == "2 195");
  CHECK(client.answer().body == "b");
  const Answer last = client.ask(get("/hello", "Connection: close\r\n"));
  CHECK(last.fields.at("connection") == "close");
  CHECK(client.is_at_end());
}

TEST_CASE("listener: the router's answers") {
  TestServer server;
  RawClient client(server.port());
  const Answer missing = client.ask(get("/nowhere"));
  CHECK(missing.status == 404);
  CHECK(missing.fields.at("content-type") == "application/problem+json");
  CHECK(contains(missing.body, "\"type\":\"not_found\""));
  CHECK(contains(missing.body, "\"request_id\":\"" + missing.fields.at("x-request-id") + "\""));
  CHECK(client.ask(get("/things/")).status == 404);
  CHECK(client.ask(get("/things/a/")).status == 404);

  const Answer wrong = client.ask(put("/things/x", ""));
  CHECK(wrong.status == 405);
  CHECK(wrong.fields.at("allow") == "GET, HEAD, DELETE, OPTIONS");
  client.send("OPTIONS /count HTTP/1.1\r\nHost: h\r\n\r\n");
  const Answer options = client.answer();
  CHECK(options.status == 204);
  CHECK(options.fields.at("allow") == "PUT, OPTIONS");
  CHECK(options.fields.count("content-length") == 0);
}

TEST_CASE("listener: HEAD is GET without the body") {
  TestServer server;
  RawClient client(server.port());
  client.send("HEAD /hello HTTP/1.1\r\nHost: h\r\n\r\nHEAD /file HTTP/1.1\r\nHost: h\r\n\r\n" + get("/things/after"));
  CHECK(client.answer_to_head().fields.at("content-length") == "5");
  CHECK(client.answer_to_head().fields.at("content-length") == std::to_string(TestServer::file_bytes));
  CHECK(client.answer().body == "after");
}

TEST_CASE("listener: files are sent whole, and one that is gone is not found") {
  TestServer server;
  RawClient client(server.port());
  const Answer file = client.ask(get("/file"));
  CHECK(file.status == 200);
  CHECK(file.body == std::string(TestServer::file_bytes, 'f'));
  CHECK(file.fields.at("content-disposition") == "attachment; filename=\"trace.json\"");
  CHECK(client.ask(get("/lost")).status == 404);
}

// Why: what a handler throws may hold what a client must not see; the log must have it.
TEST_CASE("listener: a handler that throws is a 500, and the service goes on") {
  TestServer server;
  RawClient client(server.port());
  const Answer answer = client.ask(get("/throw", "X-Request-Id: mine-1\r\n"));
  CHECK(answer.status == 500);
  CHECK(answer.fields.at("x-request-id") == "mine-1");
  CHECK_FALSE(contains(answer.body, "secret"));
  CHECK(server.record(1).error == "exception: secret details\\x0a");
  CHECK(client.ask(get("/broken")).status == 500);
  CHECK(client.ask(get("/hello")).status == 200);
}

TEST_CASE("listener: the client's own request id only where it is clean") {
  TestServer server;
  RawClient client(server.port());
  CHECK(client.ask(get("/hello", "X-Request-Id: run_1.A-b\r\n")).fields.at("x-request-id") == "run_1.A-b");
  CHECK(client.ask(get("/hello", "X-Request-Id: <script>\r\n")).fields.at("x-request-id") == "id-1");
  CHECK(client.ask(get("/hello", "X-Request-Id: twr_1_secret\r\n")).fields.at("x-request-id") == "id-2");
  CHECK(client.ask(get("/hello", "X-Request-Id: " + std::string(65, 'a') + "\r\n")).fields.at("x-request-id") ==
        "id-3");
}

// Why: refused means answered, closed, and the bytes behind it never read as a request.
TEST_CASE("listener: what is refused closes the connection") {
  struct Row {
    const char* name;
    std::string text;
    int want;
  };
  const std::string smuggled = "GET /hello HTTP/1.1\r\nHost: h\r\n\r\n";
  const Row rows[] = {
      {"coding and length",
       "POST /small HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"unknown coding", "POST /small HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n", 501},
      {"no length", "POST /small HTTP/1.1\r\nHost: h\r\n\r\n", 411},
      {"no Host", "GET /hello HTTP/1.1\r\n\r\n", 400},
      {"LF alone", "GET /hello HTTP/1.1\nHost: h\n\n", 400},
      {"TRACE", "TRACE /hello HTTP/1.1\r\nHost: h\r\n\r\n", 501},
      {"head too large", "GET /hello HTTP/1.1\r\nHost: h\r\nA: " + std::string(9000, 'a') + "\r\n\r\n", 400},
      {"TLS hello", std::string("\x16\x03\x01\x02\x00\x01\x00", 7), 400},
      {"broken chunk", "PUT /count HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400},
  };
  TestServer server;
  for (const Row& row : rows) {
    CAPTURE(row.name);
    RawClient client(server.port());
    const Answer answer = client.ask(row.text + smuggled);
    CHECK(answer.status == row.want);
    CHECK(answer.fields.at("connection") == "close");
    CHECK(answer.fields.at("content-type") == "application/problem+json");
    client.end_sending();
    CHECK(client.is_at_end());
  }
}

TEST_CASE("listener: bodies stream in both framings") {
  TestServer server;
  RawClient client(server.port());
  const std::string big(3'000'000, '\x01');
  CHECK(client.ask(put("/count", big)).body == "3000000 3000000");
  client.send("PUT /count HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 30; ++i) client.send("186a0\r\n" + big.substr(0, 100'000) + "\r\n");
  client.send("0\r\n\r\n" + get("/hello"));
  CHECK(client.answer().body == "3000000 3000000");
  CHECK(client.answer().body == "hello");
  CHECK(server.record(2).bytes_in == 3'000'000);
}

TEST_CASE("listener: a small body, and one that is not") {
  TestServer server;
  {
    RawClient client(server.port());
    CHECK(client.ask(post("/small", "0123456789abcdef")).body == "0123456789abcdef");
    CHECK(client.ask(post("/small", "0123456789abcdefg")).status == 413);
  }
  RawClient client(server.port());
  const Answer answer = client.ask(
      "POST /small HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n11\r\n0123456789abcdefg\r\n0\r\n\r\n");
  CHECK(answer.status == 413);
  CHECK(contains(answer.body, "upload_too_large"));
}

// Why: a client that sends 8 MB before it looks must still see why it was refused, not a reset connection.
TEST_CASE("listener: an early answer to a large body arrives") {
  TestServer server;
  RawClient client(server.port());
  const Answer answer = client.ask(post("/refuse", std::string(8'000'000, 'x')));
  CHECK(answer.status == 401);
  CHECK(answer.fields.at("connection") == "close");
  CHECK(answer.fields.at("www-authenticate") == "Bearer");
  client.end_sending();
  CHECK(client.is_at_end());
  CHECK(server.record(1).bytes_in == 0);
}

TEST_CASE("listener: Expect is answered when the handler wants the body") {
  TestServer server;
  const std::string expect = "Expect: 100-continue\r\n";
  {
    RawClient client(server.port());
    client.send("PUT /count HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n" + expect + "\r\n");
    CHECK(client.answer().status == 100);
    CHECK(client.ask("ab").body == "2 195");
    CHECK(client.ask(get("/hello")).status == 200);
  }
  {
    RawClient client(server.port());
    const Answer refused = client.ask("POST /refuse HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n" + expect + "\r\n");
    CHECK(refused.status == 401);
    CHECK(refused.fields.at("connection") == "close");
    client.end_sending();
    CHECK(client.is_at_end());
  }
  RawClient impatient(server.port());
  CHECK(impatient.ask(put("/count", "ab", expect)).body == "2 195");
}

TEST_CASE("listener: slow heads, slow bodies and idle connections end by timers") {
  HttpLimits limits;
  limits.header_time_max = 50ms;
  limits.idle_time_max = 100ms;
  limits.body_grace = 50ms;
  TestServer server(limits);
  {
    RawClient silent(server.port());
    CHECK(silent.is_at_end());
  }
  {
    RawClient slow_head(server.port());
    const Answer answer = slow_head.ask("GET /hello HTTP/1.1\r\nHo");
    CHECK(answer.status == 408);
    CHECK(server.record(1).method == "GET");
    CHECK(server.record(1).target == "/hello");
  }
  {
    RawClient slow_body(server.port());
    const Answer answer = slow_body.ask("PUT /count HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nab");
    CHECK(answer.status == 408);
    CHECK(answer.fields.at("connection") == "close");
  }
  {
    RawClient slow_chunk(server.port());
    CHECK(slow_chunk.ask("PUT /count HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\na").status == 408);
  }
  RawClient idle(server.port());
  CHECK(idle.ask(get("/hello")).status == 200);
  CHECK(idle.is_at_end());
}

TEST_CASE("listener: a client that does not read its answer is dropped") {
  HttpLimits limits;
  limits.body_grace = 100ms;
  limits.body_rate_min = 1'000'000'000;
  TestServer server(limits);
  RawClient client(server.port());
  for (int i = 0; i < 64; ++i) client.send(get("/file"));  // 45 MB, more than the kernel's buffers hold
  CHECK(falls_to(server, 0));
}

TEST_CASE("listener: a cut body is the client's error, and is logged") {
  TestServer server;
  RawClient client(server.port());
  client.send("PUT /count HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc");
  client.end_sending();
  CHECK(client.answer().status == 400);
  const AccessRecord record = server.record(1);
  CHECK(record.bytes_in == 3);
  CHECK(record.error == "bad_request: the body ended before its announced end");
}

TEST_CASE("listener: the record of a request") {
  TestServer server;
  RawClient client(server.port());
  client.ask(get("/things/twr_1_secret?note=twr_2_secret", "Authorization: Bearer twr_3_secret\r\n"));
  const AccessRecord record = server.record(1);
  CHECK(record.request_id == "id-1");
  CHECK(record.remote == "127.0.0.1");
  CHECK(record.method == "GET");
  CHECK(record.target == "/things/twr_***");
  CHECK(record.status == 200);
  CHECK(record.bytes_out > 12);
  CHECK(record.duration > 0ns);
  CHECK(record.error.empty());

  const Answer refused = client.ask(get("/things/twr_0123456789abcdef_5ec3e7?token=5ec3e7"));
  CHECK(refused.status == 400);
  CHECK(contains(refused.body, "Authorization header"));
  CHECK_FALSE(contains(refused.body, "5ec3e7"));
  CHECK(server.record(2).target == "/things/twr_***");
  CHECK_FALSE(contains(server.record(2).error, "5ec3e7"));
}

TEST_CASE("listener: more connections than allowed are turned away") {
  HttpLimits limits;
  limits.connections_max = 2;
  TestServer server(limits);
  RawClient one(server.port());
  auto two = std::make_unique<RawClient>(server.port());
  CHECK(one.ask(get("/hello")).status == 200);
  CHECK(two->ask(get("/hello")).status == 200);
  RawClient three(server.port());
  const Answer answer = three.answer();
  CHECK(answer.status == 503);
  CHECK(answer.fields.at("retry-after") == "5");
  two.reset();
  REQUIRE(falls_to(server, 1));
  RawClient four(server.port());
  CHECK(four.ask(get("/hello")).status == 200);
}

TEST_CASE("listener: a stop lets the request in flight end and closes the idle ones") {
  TestServer server;
  RawClient idle(server.port());
  CHECK(idle.ask(get("/hello")).status == 200);
  RawClient busy(server.port());
  busy.send(get("/wait"));
  server.await_waiting();
  server.stop(20s);
  CHECK(idle.is_at_end());
  server.release();
  const Answer answer = busy.answer();
  CHECK(answer.body == "waited");
  CHECK(answer.fields.at("connection") == "close");
  CHECK(busy.is_at_end());
  server.join();
}

TEST_CASE("listener: a stop cuts what takes longer than its limit") {
  TestServer server;
  RawClient slow(server.port());
  slow.send("PUT /count HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n");
  CHECK(slow.answer().status == 100);  // the handler now waits for the body
  server.stop(10ms);
  server.join();
  CHECK(slow.is_at_end());
}

TEST_CASE("listener: an address that cannot be had is a configuration error that names it") {
  TestServer server;
  ListenerOptions taken;
  taken.port = server.port();
  const auto second = Listener::open(taken);
  REQUIRE_FALSE(second);
  CHECK(second.error().code == ErrorCode::bad_config);
  CHECK(contains(second.error().message, std::to_string(server.port())));
  ListenerOptions named;
  named.address = "localhost";
  CHECK_FALSE(Listener::open(named));
}
