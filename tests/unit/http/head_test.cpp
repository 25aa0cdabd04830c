#include "server/http/head.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "server/http/chunked.hpp"

using namespace traceweir;
using namespace traceweir::http;

namespace {

std::string head_of(std::string_view request_line, std::string_view fields = "") {
  return std::string(request_line) + "\r\nHost: h\r\n" + std::string(fields) + "\r\n";
}

std::string many_fields(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "A" + std::to_string(i) + ": b\r\n";
  return text;
}

/// Gives the decoder pieces of `piece` bytes and takes `room` bytes at a time.
Result<std::string> decoded(std::string_view text, std::size_t piece, std::size_t room) {
  ChunkedDecoder decoder;
  std::string all;
  std::string here;
  std::string out(room, '\0');
  while (!decoder.done() && (!text.empty() || !here.empty())) {
    here += text.substr(0, piece);
    text.remove_prefix(std::min(piece, text.size()));
    for (;;) {
      TRACEWEIR_TRY(step, decoder.decode(here, std::as_writable_bytes(std::span(out))));
      here.erase(0, step.consumed);
      all += out.substr(0, step.produced);
      if (step.consumed == 0 && step.produced == 0) break;
    }
    if (text.empty() && !decoder.done() && here.empty()) return fail(ErrorCode::bad_body, "cut");
  }
  return all + "|" + here + std::string(text);
}

}  // namespace

TEST_CASE("head: what a good request says") {
  const auto head = parse_head(
      "POST /api/v1/a%20b?x=1 HTTP/1.1\r\nHost: example.org:8080\r\nContent-Length: 12\r\n"
      "X-Thing:  spaced \r\nExpect: 100-Continue\r\n\r\n",
      {});
  REQUIRE(head);
  CHECK(head->verb == Verb::post);
  CHECK(head->path == "/api/v1/a%20b");
  CHECK(head->segments == std::vector<std::string>{"api", "v1", "a b"});
  CHECK(head->query.one("x").value() == std::optional<std::string>("1"));
  CHECK(head->framing == Framing::length);
  CHECK(head->body_bytes == 12);
  CHECK(head->keep_alive);
  CHECK(head->expects_continue);
  CHECK(head->headers[2].name == "x-thing");
  CHECK(head->headers[2].value == "spaced");
}

TEST_CASE("head: who gets another request on the connection") {
  CHECK(parse_head(head_of("GET / HTTP/1.1"), {})->keep_alive);
  CHECK_FALSE(parse_head(head_of("GET / HTTP/1.1", "Connection: Close\r\n"), {})->keep_alive);
  CHECK_FALSE(parse_head(head_of("GET / HTTP/1.1", "Connection: te, close\r\n"), {})->keep_alive);
  CHECK_FALSE(parse_head(head_of("GET / HTTP/1.0", "Connection: keep-alive\r\n"), {})->keep_alive);
}

// Why: each of these is read in two ways by two programs somewhere; a proxy in front of us may be one of them.
// Source: the list in the spec of reliability, section 2.2.
TEST_CASE("head: what is refused") {
  struct Row {
    const char* name;
    std::string head;
    unsigned want;
  };
  const std::string post = "POST / HTTP/1.1";
  const Row rows[] = {
      {"coding that only ends in chunked", head_of(post, "Transfer-Encoding: xchunked\r\n"), 501},
      {"chunked, identity", head_of(post, "Transfer-Encoding: chunked, identity\r\n"), 501},
      {"gzip, chunked", head_of(post, "Transfer-Encoding: gzip, chunked\r\n"), 501},
      {"identity", head_of(post, "Transfer-Encoding: identity\r\n"), 501},
      {"empty coding", head_of(post, "Transfer-Encoding:\r\n"), 501},
      {"two codings", head_of(post, "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), 400},
      {"coding and length", head_of(post, "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n"), 400},
      {"length and coding", head_of(post, "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n"), 400},
      {"length twice, equal", head_of(post, "Content-Length: 3\r\nContent-Length: 3\r\n"), 400},
      {"length twice, different", head_of(post, "Content-Length: 3\r\nContent-Length: 4\r\n"), 400},
      {"length as a list", head_of(post, "Content-Length: 3, 3\r\n"), 400},
      {"length with a sign", head_of(post, "Content-Length: +3\r\n"), 400},
      {"length below zero", head_of(post, "Content-Length: -3\r\n"), 400},
      {"length in hex", head_of(post, "Content-Length: 0x3\r\n"), 400},
      {"length that overflows", head_of(post, "Content-Length: 18446744073709551616\r\n"), 400},
      {"length above int64", head_of(post, "Content-Length: 18446744073709551615\r\n"), 400},
      {"HTTP/1.0 chunked", head_of("POST / HTTP/1.0", "Transfer-Encoding: chunked\r\n"), 400},
      {"POST without length", head_of(post), 411},
      {"PUT without length", head_of("PUT / HTTP/1.1"), 411},
      {"PATCH without length", head_of("PATCH / HTTP/1.1"), 411},
      {"no Host", "GET / HTTP/1.1\r\nA: b\r\n\r\n", 400},
      {"no Host, HTTP/1.0", "GET / HTTP/1.0\r\n\r\n", 400},
      {"two Hosts", head_of("GET / HTTP/1.1", "Host: h\r\n"), 400},
      {"empty Host", "GET / HTTP/1.1\r\nHost:\r\n\r\n", 400},
      {"Host that is none", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400},
      {"folded field", head_of("GET / HTTP/1.1", "A: b\r\n c\r\n"), 400},
      {"folded field, tab", head_of("GET / HTTP/1.1", "A: b\r\n\tc\r\n"), 400},
      {"space before the first field", "GET / HTTP/1.1\r\n Host: h\r\n\r\n", 400},
      {"space before the colon", head_of("GET / HTTP/1.1", "A : b\r\n"), 400},
      {"field without a colon", head_of("GET / HTTP/1.1", "nonsense\r\n"), 400},
      {"absolute target", head_of("GET http://evil/ HTTP/1.1"), 400},
      {"authority target", head_of("GET evil:80 HTTP/1.1"), 400},
      {"asterisk target", head_of("OPTIONS * HTTP/1.1"), 400},
      {"fragment", head_of("GET /a#b HTTP/1.1"), 400},
      {"non-ASCII target", head_of("GET /gr\xc3\xb6sse HTTP/1.1"), 400},
      {"control character in the target", head_of("GET /a\x01 HTTP/1.1"), 400},
      {"two spaces", head_of("GET  / HTTP/1.1"), 400},
      {"encoded dots", head_of("GET /a/%2e%2e/b HTTP/1.1"), 400},
      {"broken query", head_of("GET /?a=%zz HTTP/1.1"), 400},
      {"target too long", head_of("GET /" + std::string(4096, 'a') + " HTTP/1.1"), 400},
      {"TRACE", head_of("TRACE / HTTP/1.1"), 501},
      {"CONNECT", head_of("CONNECT h:1 HTTP/1.1"), 501},
      {"unknown method", head_of("BREW / HTTP/1.1"), 501},
      {"method in lower case", head_of("get / HTTP/1.1"), 501},
      {"HTTP/1.2", head_of("GET / HTTP/1.2"), 400},
      {"HTTP/2.0", head_of("GET / HTTP/2.0"), 400},
      {"HTTP/0.9", "GET /\r\n\r\n", 400},
      {"the HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\n", 400},
      {"65 fields", "GET / HTTP/1.1\r\nHost: h\r\n" + many_fields(64) + "\r\n", 400},
      {"authorization twice", head_of("GET / HTTP/1.1", "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n"), 400},
      {"another expectation", head_of("GET / HTTP/1.1", "Expect: coffee\r\n"), 417},
      {"a token in the query", head_of("GET /?a=twr_0123456789abcdef_00 HTTP/1.1"), 400},
      {"a token in the query, encoded", head_of("GET /?a=tw%72_0123456789ABCDEF%5f HTTP/1.1"), 400},
      {"a signed token by the name of one", head_of("GET /?id_token=x HTTP/1.1"), 400},
      {"a signed token by another name", head_of("GET /?JWT=x HTTP/1.1"), 400},
      {"a signed token in the query", head_of("GET /?a=eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJ4In0.c2ln HTTP/1.1"), 400},
      {"a signed token, glued", head_of("GET /?a=Bearer_eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJ4In0.c2ln HTTP/1.1"), 400},
      {"a signed token as a key", head_of("GET /?eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJ4In0.c2ln HTTP/1.1"), 400},
      {"a signed token in the path, encoded",
       head_of("GET /x/ey%4ahbGciOiJSUzI1NiJ9%2eeyJpc3MiOiJ4In0.c2ln/y HTTP/1.1"), 400},
      {"a signed token after dots", head_of("GET /a.b.c.eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJ4In0.c2ln HTTP/1.1"), 400},
      {"a token as a key", head_of("GET /?twr_0123456789abcdef_00 HTTP/1.1"), 400},
      {"a token in the path", head_of("GET /x-twr_0123456789abcdef_00/y HTTP/1.1"), 400},
      {"a secret's name", head_of("GET /?Access_Token=x HTTP/1.1"), 400},
      {"not complete", "GET / HTTP/1.1\r\nHost: h\r\n", 400},
      {"nothing", "", 400},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const auto head = parse_head(row.head, {});
    REQUIRE_FALSE(head);
    CHECK(static_cast<unsigned>(head.error().status) == row.want);
    CHECK_FALSE(head.error().error.message.empty());
  }
  CHECK(parse_head("GET / HTTP/1.1\r\nHost: h\r\n" + many_fields(63) + "\r\n", {}));
  CHECK(parse_head(head_of(post, "Transfer-Encoding: chunked\r\n"), {})->framing == Framing::chunked);
  CHECK(parse_head(head_of("DELETE / HTTP/1.1"), {})->body_bytes == 0);
  for (const char* target : {"/?name=eyJtrace.json.gz", "/?branch=eyeball-tracking.eye-of-the-storm",
                             "/?name=eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJ4In0.", "/releases/1.2.3/key.ewe.ode"})
    CHECK_MESSAGE(parse_head(head_of("GET " + std::string(target) + " HTTP/1.1"), {}), target);
  CHECK(parse_head(head_of("GET /?branch=twr_&env.token=twr_0123456789abcdef HTTP/1.1"), {}));
}

TEST_CASE("head scan: complete, incomplete, hopeless") {
  using State = HeadScan::State;
  struct Row {
    const char* name;
    std::string_view text;
    State want;
    std::size_t head_bytes;
  };
  const Row rows[] = {
      {"whole, with more behind it", "GET / HTTP/1.1\r\nA: b\r\n\r\nrest", State::complete, 24},
      {"cut in the empty line", "GET / HTTP/1.1\r\nA: b\r\n\r", State::incomplete, 0},
      {"nothing", "", State::incomplete, 0},
      {"LF alone", "GET / HTTP/1.1\nA: b\n\n", State::broken, 0},
      {"CR alone", "GET / HTTP/1.1\rA", State::broken, 0},
      {"CR CR LF", "GET / HTTP/1.1\r\r\n", State::broken, 0},
      {"empty first line", "\r\nGET / HTTP/1.1\r\n\r\n", State::broken, 0},
      {"NUL", std::string_view("GET /\0", 6), State::broken, 0},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    HeadScan at_once;
    CHECK(at_once.look_at(row.text) == row.want);
    if (row.want == State::complete) CHECK(at_once.head_bytes() == row.head_bytes);
    HeadScan by_bytes;
    State state = State::incomplete;
    for (std::size_t i = 1; i <= row.text.size() && state == State::incomplete; ++i)
      state = by_bytes.look_at(row.text.substr(0, i));
    CHECK(state == row.want);
  }
}

// Why: the shape of a stream must not depend on how the network cut it, and a broken one must not be guessed at.
TEST_CASE("chunked: every cut gives the same body") {
  struct Row {
    const char* name;
    std::string text;
    std::string want;  ///< body, then what is left behind it; empty: refused
  };
  const Row rows[] = {
      {"two chunks", "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", "abcde|"},
      {"nothing", "0\r\n\r\n", "|"},
      {"upper case, leading zero", "0A\r\n0123456789\r\n0\r\n\r\n", "0123456789|"},
      {"the next request stays", "1\r\na\r\n0\r\n\r\nGET /", "a|GET /"},
      {"extension", "1;a=b\r\na\r\n0;x\r\n\r\n", "a|"},
      {"trailers", "1\r\na\r\n0\r\nA: b\r\nC: d\r\n\r\n", "a|"},
      {"LF alone after the size", "1\na\r\n0\r\n\r\n", ""},
      {"LF in an extension", "1;a\nb\r\na\r\n0\r\n\r\n", ""},
      {"CR without LF", "1\ra\r\n0\r\n\r\n", ""},
      {"no size", "\r\na\r\n", ""},
      {"not hex", "g\r\na\r\n", ""},
      {"sign", "+1\r\na\r\n", ""},
      {"0x", "0x1\r\na\r\n", ""},
      {"space before the size", " 1\r\na\r\n", ""},
      {"space after the size", "1 \r\na\r\n", ""},
      {"size too long", "0000000000000001\r\na\r\n", ""},
      {"size that overflows", "fffffffffffffffff\r\na", ""},
      {"data longer than its size", "1\r\nab\r\n0\r\n\r\n", ""},
      {"data without its end", "1\r\na0\r\n\r\n", ""},
      {"end without its empty line", "0\r\nX", ""},
      {"extension without end", "1;" + std::string(2000, 'a') + "\r\na\r\n0\r\n\r\n", ""},
      {"trailers without end", "0\r\n" + std::string(2000, 'a') + "\r\n\r\n", ""},
  };
  for (const Row& row : rows) {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{10'000}}) {
      for (const std::size_t room : {std::size_t{1}, std::size_t{4}, std::size_t{1000}}) {
        CAPTURE(row.name);
        CAPTURE(piece);
        CAPTURE(room);
        const auto body = decoded(row.text, piece, room);
        CHECK(body.value_or("") == row.want);
      }
    }
  }
}
