#include <doctest/doctest.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/patience.hpp"
#include "server/http/problem.hpp"
#include "server/http/query.hpp"
#include "server/http/request.hpp"
#include "server/http/response.hpp"
#include "server/http/target.hpp"

using namespace traceweir;
using namespace traceweir::http;
using namespace std::chrono_literals;

namespace {

template <typename T>
std::optional<ErrorCode> code_of(const Result<T>& result) {
  return result ? std::nullopt : std::optional(result.error().code);
}

Request request_with(std::vector<Header> headers) {
  Request request;
  request.headers = std::move(headers);
  return request;
}

}  // namespace

// Why: a segment becomes part of a look-up; it must never turn into a path or a second segment.
TEST_CASE("path: segments, decoded after the split") {
  struct Row {
    std::string_view path;
    std::optional<std::vector<std::string>> want;
  };
  const Row rows[] = {
      {"/", std::vector<std::string>{}},
      {"/a/b", std::vector<std::string>{"a", "b"}},
      {"/a/", std::vector<std::string>{"a", ""}},
      {"//a", std::vector<std::string>{"", "a"}},
      {"/gr%C3%B6%C3%9Fe", std::vector<std::string>{"größe"}},
      {"/a+b", std::vector<std::string>{"a+b"}},
      {"/a%2fb", std::nullopt},
      {"/..", std::nullopt},
      {"/a/%2e%2e/b", std::nullopt},
      {"/.", std::nullopt},
      {"/a%5cb", std::nullopt},
      {"/a%00", std::nullopt},
      {"/a%0d%0ab", std::nullopt},
      {"/%ff", std::nullopt},
      {"/%c0%af", std::nullopt},
      {"/%4", std::nullopt},
      {"/%zz", std::nullopt},
      {"", std::nullopt},
      {"a", std::nullopt},
  };
  for (const Row& row : rows) {
    CAPTURE(row.path);
    const auto segments = path_segments(row.path);
    CHECK(segments.has_value() == row.want.has_value());
    if (segments && row.want) CHECK(*segments == *row.want);
    if (!segments) CHECK(segments.error().code == ErrorCode::bad_request);
  }
}

// Why: a token in the wrong place must not reach a log, however it is written.
TEST_CASE("target_for_log: inert, and without tokens") {
  CHECK(target_for_log("/api/v1/runs") == "/api/v1/runs");
  CHECK(target_for_log("/x/twr_12_SeCrEt-1/y") == "/x/twr_***/y");
  const std::string id_token = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJ4In0.c2ln_-";
  CHECK(target_for_log("/x/" + id_token + "/y/" + id_token) == "/x/***/y/***");
  CHECK(target_for_log("/x/a.b." + id_token + ".z") == "/x/a.b.***.z");
  CHECK(target_for_log("/eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJ4In0") == "/eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJ4In0");
  CHECK(target_for_log("/%74wr_12_secret") == "/twr_***");
  CHECK(target_for_log("/a%0aEvil: 1") == "/a\\x0aEvil: 1");
  CHECK(target_for_log("/%zz") == "/%zz");
  CHECK(target_for_log(std::string(5000, 'a')).size() <= 512);
}

TEST_CASE("query: items in order, decoded as forms write them") {
  struct Row {
    std::string_view text;
    std::optional<std::vector<Query::Item>> want;
  };
  const Row rows[] = {
      {"", std::vector<Query::Item>{}},
      {"a=1&b=2", std::vector<Query::Item>{{"a", "1"}, {"b", "2"}}},
      {"a=1&&b", std::vector<Query::Item>{{"a", "1"}, {"b", ""}}},
      {"a=x+y%2Bz", std::vector<Query::Item>{{"a", "x y+z"}}},
      {"a=b=c", std::vector<Query::Item>{{"a", "b=c"}}},
      {"=1", std::nullopt},
      {"a=%", std::nullopt},
      {"a=%00", std::nullopt},
      {"a=%ff", std::nullopt},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const auto query = Query::parse(row.text);
    CHECK(query.has_value() == row.want.has_value());
    if (query && row.want) CHECK(std::vector<Query::Item>(query->items().begin(), query->items().end()) == *row.want);
    if (!query) CHECK(query.error().code == ErrorCode::bad_query);
  }
  std::string many;
  for (std::size_t i = 0; i <= query_items_max; ++i) many += "a&";
  CHECK(code_of(Query::parse(many)) == ErrorCode::bad_query);
}

TEST_CASE("query: once, repeated, by prefix, and nothing unknown") {
  const Query query = Query::parse("commit=abc&parent=1&parent=2&env.gpu=A100").value();
  CHECK(query.one("commit").value() == std::optional<std::string>("abc"));
  CHECK(query.one("branch").value() == std::nullopt);
  CHECK(code_of(query.one("parent")) == ErrorCode::bad_query);
  CHECK(query.all("parent") == std::vector<std::string>{"1", "2"});
  CHECK(query.with_prefix("env.").value() == std::vector<Query::Item>{{"gpu", "A100"}});
  CHECK(query.only({"commit", "parent", "env.*"}));
  const Result<void> unknown = query.only({"commit", "parent"});
  REQUIRE(code_of(unknown) == ErrorCode::bad_query);
  CHECK(unknown.error().message == "env.gpu: no such parameter here; known: commit, parent");
  CHECK(code_of(Query::parse("env.=1").value().with_prefix("env.")) == ErrorCode::bad_query);
  CHECK(code_of(Query::parse("env.a=1&env.a=2").value().with_prefix("env.")) == ErrorCode::bad_query);
}

TEST_CASE("request: the bearer token") {
  struct Row {
    std::string_view field;
    std::optional<std::string_view> want;  ///< nothing: unauthorized
  };
  const Row rows[] = {
      {"Bearer twr_1_x", "twr_1_x"}, {"bearer  twr_1_x ", "twr_1_x"}, {"Basic abc", std::nullopt},
      {"Bearer", std::nullopt},      {"Bearer ", std::nullopt},       {"", std::nullopt},
  };
  for (const Row& row : rows) {
    CAPTURE(row.field);
    const auto token = request_with({{"authorization", std::string(row.field)}}).bearer_token();
    CHECK(token.has_value() == row.want.has_value());
    if (token && row.want) CHECK(token->value() == *row.want);
    if (!token) CHECK(token.error().code == ErrorCode::unauthorized);
  }
  CHECK(request_with({}).bearer_token().value() == std::nullopt);
}

TEST_CASE("request: a media type counts only where it is named") {
  CHECK(request_with({{"accept", "text/html;q=0.5, Text/Markdown ; q=0.9"}}).accepts("text/markdown"));
  CHECK_FALSE(request_with({{"accept", "*/*"}}).accepts("text/markdown"));
  CHECK_FALSE(request_with({{"accept", "text/markdown;q=0"}}).accepts("text/markdown"));
  CHECK_FALSE(request_with({}).accepts("text/markdown"));
}

// Why: a code without a status, or with one that has no phrase, would only show when it happens.
TEST_CASE("problem: every error has a status, a title and an answer") {
  for (int i = 0; i <= static_cast<int>(ErrorCode::internal); ++i) {
    const auto code = static_cast<ErrorCode>(i);
    CAPTURE(word(code));
    const Response response = problem({code, "why"});
    CHECK(static_cast<unsigned>(response.status) >= 400);
    CHECK_FALSE(reason(response.status).empty());
    CHECK_FALSE(title_of(code).empty());
    CHECK(response.header("content-type") == "application/problem+json");
    CHECK(response.header("Retry-After").has_value() == (response.status == Status::unavailable));
    CHECK(response.header("WWW-Authenticate").has_value() == (code == ErrorCode::unauthorized));
  }
}

TEST_CASE("problem: the text is JSON, whatever the message holds") {
  CHECK(problem_json({ErrorCode::bad_query, "limit: \"x\\y\"\n"}, Status::bad_request, "id-1") ==
        "{\"type\":\"bad_query\",\"title\":\"A query parameter is wrong\",\"status\":400,"
        "\"detail\":\"limit: \\\"x\\\\y\\\"\\\\x0a\",\"request_id\":\"id-1\"}\n");
  CHECK(problem_json({ErrorCode::bad_body, std::string(100'000, '"')}, Status::bad_request, "id").size() < 4096);
}

TEST_CASE("response: a download's name is inert") {
  CHECK(download("/x", "application/gzip", "a b\"\r\n../c.gz").header("content-disposition") ==
        "attachment; filename=\"a_b___.._c.gz\"");
  CHECK(download("/x", "application/gzip", "").header("content-disposition") == "attachment; filename=\"file\"");
  CHECK(download("/x", "a/b", ".bashrc").header("content-disposition") == "attachment; filename=\"file.bashrc\"");
}

// Why: one byte a second must end, a fast client must not save up for a long pause, and our own time is not counted.
TEST_CASE("patience: a minimum rate, averaged over the grace") {
  HttpLimits limits;
  limits.body_rate_min = 1000;
  limits.body_grace = 10s;
  limits.body_time_max = 60s;
  Patience slow(limits);
  int waits = 0;
  for (; slow.left() > 0s && waits < 100; ++waits) slow.spend(1s, 1);
  CHECK(waits == 11);

  Patience steady(limits);
  for (int i = 0; i < 59; ++i) steady.spend(1s, 1000);
  CHECK(steady.left() == 1s);  // of body_time_max
  steady.spend(1s, 1'000'000'000);
  CHECK(steady.left() == 0s);

  Patience burst(limits);
  burst.spend(0s, 1'000'000'000);
  CHECK(burst.left() == 10s);
}
