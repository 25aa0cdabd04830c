#include <doctest/doctest.h>

#include <chrono>
#include <string>

#include "server/oidc/id_token.hpp"
#include "server/oidc/issuers.hpp"
#include "server/oidc/job.hpp"
#include "server/oidc/keys.hpp"

using namespace traceweir;
using namespace traceweir::oidc;
using namespace std::chrono_literals;

namespace {

const Time now{std::chrono::seconds{1'800'000'000}};

std::string base64url(std::string_view text) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    bits = (bits << 8) | static_cast<unsigned char>(c);
    for (count += 8; count >= 6; count -= 6) out += digits[(bits >> (count - 6)) & 63];
  }
  if (count > 0) out += digits[(bits << (6 - count)) & 63];
  return out;
}

std::string token(std::string_view head, std::string_view claims, std::string_view signature = "x") {
  return base64url(head) + "." + base64url(claims) + "." + base64url(signature);
}

/// Good claims with one changed: `null` takes it away.
wire::Json claims(std::string_view key = "", const wire::Json& value = nullptr) {
  wire::Json all = {{"aud", "https://gate"}, {"exp", 1'800'000'300}, {"iat", 1'800'000'000}, {"nbf", 1'799'999'990}};
  if (value.is_null())
    all.erase(std::string(key));
  else
    all[std::string(key)] = value;
  return all;
}

Job github(std::string_view event, std::string_view ref) {
  return job_of(Ci::github, {{"iss", "i"}, {"repository", "acme/llama"}, {"ref", ref}, {"event_name", event}}).value();
}

Job gitlab(std::string_view source, std::string_view path) {
  return job_of(Ci::gitlab,
                {{"iss", "i"}, {"project_path", "acme/llama"}, {"ref_path", path}, {"pipeline_source", source}})
      .value();
}

}  // namespace

TEST_CASE("oidc: base64url, and texts that are none") {
  CHECK(base64url_decoded("") == "");
  CHECK(base64url_decoded("Zg") == "f");
  CHECK(base64url_decoded("Zm8") == "fo");
  CHECK(base64url_decoded("Zm9v") == "foo");
  CHECK(base64url_decoded("-_8") == "\xfb\xff");
  for (const char* none : {"Z", "Zg==", "Zh", "Zm9", "+/8", "Zm 9v", "Zm9vZ"})
    CHECK_MESSAGE(!base64url_decoded(none), none);
}

// Why: each of these was a way into some service.
TEST_CASE("oidc: tokens that are none") {
  const std::string good = R"({"alg":"RS256","kid":"k"})";
  CHECK(parse_id_token(token(good, R"({"iss":"x"})")));
  const std::string bad[] = {
      "",
      "a.b",
      "a.b.c.d",
      token(good, "[]"),
      token("1", "{}"),
      token(good, "{"),
      token(R"({"alg":"none","kid":"k"})", "{}"),
      token(R"({"alg":"None","kid":"k"})", "{}"),
      token(R"({"alg":"HS256","kid":"k"})", "{}"),
      token(R"({"alg":"RS512","kid":"k"})", "{}"),
      token(R"({"alg":"PS256","kid":"k"})", "{}"),
      token(R"({"alg":["RS256"],"kid":"k"})", "{}"),
      token(R"({"kid":"k"})", "{}"),
      token(R"({"alg":"RS256"})", "{}"),
      token(R"({"alg":"RS256","kid":""})", "{}"),
      token(R"({"alg":"RS256","kid":7})", "{}"),
      token(R"({"alg":"RS256","kid":"k","crit":["b64"]})", "{}"),
      token(good, "{}", ""),
      token(good, "{}") + "=",
      token(good, std::string(100, '[') + std::string(100, ']')),
  };
  for (const std::string& text : bad) {
    CAPTURE(text);
    const auto parsed = parse_id_token(text);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code == ErrorCode::unauthorized);
  }
}

TEST_CASE("oidc: what a token states has to hold here and now") {
  const ClaimRules rules{"https://gate", 1h};
  struct Row {
    const char* key;
    wire::Json value;
    const char* why;  // nullptr: accepted
  };
  const Row rows[] = {
      {"", nullptr, nullptr},
      {"aud", {"https://other", "https://gate"}, nullptr},
      {"nbf", nullptr, nullptr},
      {"exp", 1'799'999'941, nullptr},
      {"exp", 1'800'000'300.5, nullptr},
      {"iat", 1'800'000'060, nullptr},
      {"aud", "https://gate/", "audience"},
      {"aud", wire::Json::array(), "audience"},
      {"aud", {1, 2}, "audience"},
      {"aud", nullptr, "audience"},
      {"exp", 1'799'999'940, "exp"},
      {"exp", nullptr, "exp"},
      {"exp", "1800000300", "exp"},
      {"exp", -1, "exp"},
      {"exp", 1e300, "exp"},
      {"iat", nullptr, "iat"},
      {"iat", 1'800'000'061, "iat"},
      {"iat", 1'799'996'339, "oidc_token_age_max"},
      {"nbf", 1'800'000'061, "nbf"},
      {"nbf", "soon", "nbf"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.key);
    CAPTURE(row.value.dump());
    const auto checked = check_claims(claims(row.key, row.value), rules, now);
    REQUIRE(checked.has_value() == (row.why == nullptr));
    if (!checked) CHECK(checked.error().message.find(row.why) != std::string::npos);
  }
}

// Why: what says "main" and may have run a stranger's code must never measure for main.
TEST_CASE("oidc: whose own code ran") {
  CHECK(github("push", "refs/heads/main").branch == "main");
  CHECK(github("push", "refs/heads/feature/x").branch == "feature/x");
  CHECK(github("schedule", "refs/heads/main").branch == "main");
  CHECK(github("merge_group", "refs/heads/gh-readonly-queue/main/pr-1-a").branch == "gh-readonly-queue/main/pr-1-a");
  const Job pull = github("pull_request", "refs/pull/12/merge");
  CHECK(pull.branch.empty());
  CHECK(pull.pull_request == 12);
  for (const char* event :
       {"pull_request_target", "workflow_run", "issue_comment", "pull_request_review", "check_run", "", "new_event"}) {
    CAPTURE(event);
    CHECK(github(event, "refs/heads/main").branch.empty());
    CHECK_FALSE(github(event, "refs/heads/main").pull_request.has_value());
  }
  CHECK(gitlab("push", "refs/heads/main").branch == "main");
  CHECK(gitlab("merge_request_event", "refs/heads/main").branch.empty());
  CHECK(gitlab("parent_pipeline", "refs/heads/main").branch.empty());
  CHECK(gitlab("external_pull_request_event", "refs/heads/main").branch.empty());
  CHECK(gitlab("merge_request_event", "refs/merge-requests/7/head").pull_request == 7);
  const auto old =
      job_of(Ci::gitlab, {{"project_path", "a/b"}, {"ref", "v1"}, {"ref_type", "tag"}, {"pipeline_source", "push"}});
  CHECK(old->ref == "refs/tags/v1");
  CHECK(old->branch == "refs/tags/v1");
  CHECK_FALSE(job_of(Ci::github, {{"repository", "a/b"}}));
  CHECK_FALSE(job_of(Ci::github, {{"ref", "refs/heads/main"}}));
  CHECK_FALSE(job_of(Ci::gitlab, {{"repository", "a/b"}, {"ref", ""}}));
}

// Why: tags are often pushed by more people than the branch that gates merges.
TEST_CASE("oidc: a tag is never the branch of the same name") {
  for (const char* event : {"push", "release", "workflow_dispatch", "schedule"}) {
    CAPTURE(event);
    const Job job = github(event, "refs/tags/main");
    CHECK(job.branch == "refs/tags/main");
    CHECK(tag_of(job) == "main");
  }
  CHECK(gitlab("push", "refs/tags/main").branch == "refs/tags/main");
  CHECK(github("pull_request_target", "refs/tags/main").branch.empty());
  for (const char* ref : {"refs/heads/main", "refs/heads/tags/main", "refs/pull/1/merge"})
    CHECK_MESSAGE(tag_of(github("push", ref)).empty(), ref);
}

// Why: GitHub's sha of a pull request is a merge for the test, and of pull_request_target the base's.
TEST_CASE("oidc: which commit ran, where it is the job's own") {
  const auto commit = [](std::string_view event, std::string_view ref, std::string_view sha) {
    return job_of(Ci::github, {{"repository", "a/b"}, {"ref", ref}, {"event_name", event}, {"sha", sha}})
        .value()
        .commit;
  };
  CHECK(commit("push", "refs/heads/main", "00aaBBff") == "00aabbff");
  CHECK(commit("push", "refs/tags/v1", "00aa") == "00aa");
  CHECK(commit("pull_request", "refs/pull/1/merge", "00aa").empty());
  CHECK(commit("pull_request_target", "refs/heads/main", "00aa").empty());
  CHECK(github("push", "refs/heads/main").commit.empty());
  const auto at_gitlab =
      job_of(Ci::gitlab,
             {{"project_path", "a/b"}, {"ref_path", "refs/heads/main"}, {"pipeline_source", "web"}, {"sha", "0A"}});
  CHECK(at_gitlab.value().commit == "0a");
  Job job = github("push", "refs/heads/main");
  job.commit = "00aa";
  CHECK(job_from(to_json(job)).value().commit == "00aa");
  wire::Json before = to_json(job);
  before.erase("commit");
  CHECK(job_from(before).value().commit.empty());
}

TEST_CASE("oidc: patterns of refs") {
  struct Row {
    const char* pattern;
    const char* text;
    bool fits;
  };
  const Row rows[] = {{"refs/heads/main", "refs/heads/main", true},
                      {"refs/heads/main", "refs/heads/main2", false},
                      {"refs/heads/*", "refs/heads/a/b", true},
                      {"refs/heads/*", "refs/tags/a", false},
                      {"refs/pull/*/merge", "refs/pull/1/merge", true},
                      {"refs/pull/*/merge", "refs/pull/1/head", false},
                      {"*", "", true},
                      {"", "a", false},
                      {"a*b*c", "abbcabc", true},
                      {"a*b*c", "abbcab", false},
                      {"a**", "a", true},
                      {"a", "A", false}};
  for (const Row& row : rows) CHECK_MESSAGE(matches(row.pattern, row.text) == row.fits, row.pattern, " ", row.text);
  const std::string many(5'000, 'a');
  CHECK_FALSE(matches("*a*a*a*a*a*a*b", many));
}

TEST_CASE("oidc: which jobs a project trusts") {
  const auto trusted =
      trusted_jobs_of(
          wire::parse_json(
              R"([{"issuer":"i","repository":"acme/llama","refs":["refs/heads/*"],"environment":"gpu","repository_id":"7"}])")
              .value())
          .value();
  REQUIRE(trusted.size() == 1);
  CHECK(
      to_json(trusted).dump() ==
      R"([{"issuer":"i","repository":"acme/llama","repository_id":"7","refs":["refs/heads/*"],"environment":"gpu"}])");
  Job job = github("push", "refs/heads/main");
  CHECK_FALSE(trusts(trusted[0], job));
  job.environment = "gpu";
  job.repository_id = "7";
  CHECK(trusts(trusted[0], job));
  job.repository = "acme/llama2";
  CHECK_FALSE(trusts(trusted[0], job));
  for (const char* bad :
       {"{}", "[1]", R"([{"issuer":"i"}])", R"([{"issuer":"i","repository":""}])",
        R"([{"issuer":"i","repository":"a/b","ref":"x"}])", R"([{"issuer":"i","repository":"a/b","refs":["main"]}])",
        R"([{"issuer":"i","repository":"a/b","refs":[]}])",
        R"([{"issuer":"i","repository":"a/b","refs":"refs/heads/main"}])"})
    CHECK_MESSAGE(!trusted_jobs_of(wire::parse_json(bad).value()), bad);
}

TEST_CASE("oidc: a job's own words come back") {
  const Job job = github("pull_request", "refs/pull/12/merge");
  const Job again = job_from(to_json(job)).value();
  CHECK(again.ref == job.ref);
  CHECK(again.branch.empty());
  CHECK(again.pull_request == 12);
  CHECK_FALSE(job_from(wire::Json::object()));
}

TEST_CASE("oidc: sets of keys that are none") {
  const std::string point = base64url(std::string(32, 'a'));
  const std::string bad[] = {
      "",
      "[]",
      "{}",
      R"({"keys":{}})",
      R"({"keys":[]})",
      R"({"keys":[1,null,"x"]})",
      R"({"keys":[{"kty":"oct","kid":"k","k":"c2VjcmV0"}]})",
      R"({"keys":[{"kty":"RSA","kid":"k","n":"AQAB","e":"AQAB"}]})",
      R"({"keys":[{"kty":"RSA","kid":"k","n":")" + base64url(std::string(2'000'00, 'n')) + R"(","e":"AQAB"}]})",
      R"({"keys":[{"kty":"RSA","kid":"k","n":")" + base64url(std::string(256, '\xff')) + R"(","e":"AA"}]})",
      R"({"keys":[{"kty":"EC","crv":"P-256","kid":"k","x":")" + point + R"(","y":")" + point + R"("}]})",
      R"({"keys":[{"kty":"EC","crv":"P-384","kid":"k","x":")" + point + R"(","y":")" + point + R"("}]})",
  };
  for (const std::string& text : bad) {
    CAPTURE(text.substr(0, 100));
    CHECK_FALSE(KeySet::parse(text));
  }
  std::string many = R"({"keys":[)";
  for (int i = 0; i < 65; ++i) many += std::string(i > 0 ? "," : "") + "{}";
  CHECK(KeySet::parse(many + "]}").error().message.find("64") != std::string::npos);
}

TEST_CASE("oidc: issuers that may be named") {
  const auto open = [](const std::string& url, PlainHttp plain = PlainHttp::never) {
    IssuerSettings settings;
    settings.github = {url};
    settings.plain_http = plain;
    settings.rules.audience = "https://gate";
    return Issuers::open(settings).has_value();
  };
  CHECK(open("https://token.actions.githubusercontent.com"));
  CHECK(open("https://ghes.example.com/_services/token"));
  CHECK(open("http://127.0.0.1:8000", PlainHttp::loopback));
  CHECK_FALSE(open("http://127.0.0.1:8000"));
  CHECK_FALSE(open("http://issuer.example.com", PlainHttp::loopback));
  for (const char* bad : {"", "issuer.example.com", "https://issuer.example.com/", "https://u:p@issuer.example.com",
                          "https://issuer.example.com?x=1", "ftp://issuer.example.com"})
    CHECK_MESSAGE(!open(bad), bad);
  IssuerSettings settings;
  CHECK(Issuers::open(settings)->empty());
  settings.github = {"https://a.example.com"};
  CHECK_FALSE(Issuers::open(settings));  // no audience
  settings.rules.audience = "x";
  settings.gitlab = settings.github;
  CHECK_FALSE(Issuers::open(settings));  // twice
}
