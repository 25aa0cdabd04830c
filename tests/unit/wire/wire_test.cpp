#include <doctest/doctest.h>

#include <string>

#include "server/wire/json.hpp"
#include "server/wire/listing.hpp"
#include "server/wire/run_document.hpp"
#include "server/wire/timestamp.hpp"

using namespace traceweir;
using namespace traceweir::wire;

namespace {

gate::RuleResult a_failing_rule() {
  gate::RuleResult rule;
  rule.metric = "gpu.utilization";
  rule.outcome = gate::Outcome::fail;
  rule.reason = gate::Reason::worse;
  rule.observed = 0.68;
  rule.unit = "ratio";
  rule.better = Better::higher;
  rule.limit = gate::Amount{0.85, "85%"};
  rule.tolerance = "3pp";
  rule.baseline = gate::BaselineFacts{5, 0.891, 0.89, 0.004, 4, 5, 1, "run-1", "run-5", "c0ffee"};
  rule.delta = -0.211;
  rule.delta_ratio = -0.237;
  rule.detectable = 0.021;
  rule.next = "Open the comparison with run run-3.";
  return rule;
}

VerdictDocument a_verdict() {
  VerdictDocument document;
  document.verdict.outcome = gate::Outcome::fail;
  document.verdict.summary = "gpu.utilization fell from 89.1 % to 68.0 %";
  document.verdict.rules = {a_failing_rule(), gate::RuleResult{}};
  document.verdict.ancestry = "known";
  document.verdict.notes = {"a note"};
  document.verdict.baseline_runs = {"run-5", "run-4"};
  document.mode = "gate";
  document.policy_source = "built_in";
  document.policy_sha256 = std::string(64, 'a');
  return document;
}

RunDocument a_run() {
  RunDocument run;
  run.id = "0197";
  run.project = "llama";
  run.workload = "ddp";
  run.commit = std::string(40, 'b');
  run.status = "judged";
  run.verdict_json = to_json(a_verdict());
  run.report_json = R"({"schema":"traceweir.report/1"})";
  return run;
}

}  // namespace

// Why: the client decides its exit code from what the service wrote; nothing may be lost on the way.
TEST_CASE("verdict: what is written is read back the same") {
  const std::string text = to_json(a_verdict());
  const auto read = verdict_from_json(text);
  REQUIRE(read);
  CHECK(to_json(*read) == text);
  CHECK(read->verdict.rules.front().baseline->median == 0.891);
}

TEST_CASE("verdict: an unknown outcome or reason is refused by name, never taken for a pass") {
  for (const std::string word : {"fail", "worse"}) {
    std::string text = to_json(a_verdict());
    text.replace(text.find('"' + word + '"'), word.size() + 2, "\"unheard_of\"");
    const auto read = verdict_from_json(text);
    REQUIRE(!read);
    CHECK(read.error().code == ErrorCode::bad_body);
  }
}

TEST_CASE("run: stored documents are spliced in as they are") {
  const std::string text = to_json(a_run(), Detail::whole);
  const auto json = parse_json(text);
  REQUIRE(json);
  CHECK((*json)["verdict"]["outcome"] == "fail");
  CHECK((*json)["report"]["schema"] == "traceweir.report/1");
  CHECK((*json)["links"]["self"] == "/api/v1/projects/llama/runs/0197");
  const auto answer = run_from_json(text);
  REQUIRE(answer);
  CHECK(answer->verdict->verdict.outcome == gate::Outcome::fail);
  CHECK(answer->html == "/projects/llama/runs/0197");
}

TEST_CASE("run: a list carries no report, a rejected run its error") {
  RunDocument run = a_run();
  run.verdict_json.clear();
  run.error = Error{ErrorCode::malformed_trace, "byte 7"};
  const auto page = runs_from_json(runs_to_json({run, run}, "/next"));
  REQUIRE(page);
  REQUIRE(page->runs.size() == 2);
  CHECK(page->next == "/next");
  CHECK(page->runs[0].error->code == ErrorCode::malformed_trace);
  CHECK(to_json(run, Detail::head_only).find("report") == std::string::npos);
}

TEST_CASE("history: JSON both ways, CSV that no spreadsheet runs") {
  HistoryDocument history{"step.time_p50", "ns", Better::lower, {}};
  history.points.push_back({"r1", "=cmd()", "a,b\"c", "gpu=X", std::nullopt, Timestamp{}, 1.5, gate::Outcome::pass,
                            "say \"no\"\n", "=änn", true, true, true, gate::NoiseBand{1, 0.5, 2}});
  history.points.push_back({"r2", "c2", "", "gpu=X", Timestamp{}, Timestamp{}, 1e-300, std::nullopt, "", "", false,
                            false, false, std::nullopt});
  history.changes.push_back({"r2", "c2", "=cmd()", "gpu=X", 1, 2, 1, 1e-9, false, true});
  history.changes.push_back({"r2", "c2", "=cmd()", "gpu=X", 1, 2, 1, 1e-9, std::nullopt, false});
  history.segments.push_back({"gpu=X", "r1", "c1", "r2", "c2", 7, 1.5, 0.25, "acceptance"});
  const auto read = history_from_json(to_json(history));
  REQUIRE(read);
  REQUIRE(read->points.size() == 2);
  CHECK(read->points[0].value == 1.5);
  CHECK(read->points[0].branch == "a,b\"c");
  CHECK(read->points[0].subject == "say \"no\"\n");
  CHECK(read->points[0].author == "=änn");
  CHECK(read->points[0].band == gate::NoiseBand{1, 0.5, 2});
  CHECK(to_json(*read) == to_json(history));
  CHECK(parse_json(to_json(history)));
  // An older service says less.
  CHECK(history_from_json(R"({"metric":"gpu.idle","unit":"ratio","better":"lower","points":[],"next":null})"));
  const std::string csv = to_csv(history);
  CHECK(csv.find(",\"say \"\"no\"\"\n\",'=änn,true,true,true,1,0.5,2\r\n") != std::string::npos);
  CHECK(csv.find(",,,false,false,false,,,\r\n") != std::string::npos);
  CHECK(csv.find("'=cmd()") != std::string::npos);
  CHECK(csv.find("\"a,b\"\"c\"") != std::string::npos);
}

TEST_CASE("acceptance: what a client may ask for") {
  AcceptanceRequest request;
  request.metrics = {"step.time_p50"};
  request.reason = "larger batch";
  request.author = "ann";
  request.until = Timestamp{std::chrono::hours{24 * 30'000}};
  const auto read = acceptance_request_from_json(to_json(request));
  REQUIRE(read);
  CHECK(to_json(*read) == to_json(request));
  CHECK(acceptance_request_from_json(R"({"metrics":"all","reason":"x"})")->every_metric);
  struct Row {
    const char *body, *key;
  };
  const Row rows[] = {
      {R"({"reason":"x"})", "metrics"},
      {R"({"metrics":[],"reason":"x"})", "metrics"},
      {R"({"metrics":"every","reason":"x"})", "metrics"},
      {R"({"metrics":{},"reason":"x"})", "metrics"},
      {R"({"metrics":["a",1],"reason":"x"})", "metrics"},
      {R"({"metrics":"all"})", "reason"},
      {R"({"metrics":"all","reason":""})", "reason"},
      {R"({"metrics":"all","reason":1})", "reason"},
      {R"({"metrics":"all","reason":"x","until":"tomorrow"})", "until"},
      {R"({"metrics":"all","reason":"x","author":[]})", "author"},
      {R"({"metrics":"all","reason":"x","by":"ann"})", "by"},
      {R"([])", ""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.body);
    const auto refused = acceptance_request_from_json(row.body);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::bad_body);
    CHECK(refused.error().message.find(row.key) != std::string::npos);
  }
}

TEST_CASE("acceptance: the document both ways") {
  AcceptanceDocument document;
  document.id = "a1", document.run = "r1", document.commit = "c1", document.workload = "ddp";
  document.metrics = {"gpu.idle", "step.time_p50"};
  document.reason = "say \"why\"", document.author = "änn";
  CHECK(to_json(*acceptance_from_json(to_json(document))) == to_json(document));
  document.every_metric = true, document.metrics.clear();
  document.until = Timestamp{}, document.undone_at = Timestamp{}, document.undone_by = "tok";
  CHECK(to_json(*acceptance_from_json(to_json(document))) == to_json(document));
}

TEST_CASE("timestamp: RFC 3339 both ways") {
  struct Row {
    const char* text;
    const char* want;  // nullptr: refused
  };
  const Row rows[] = {
      {"2026-11-29T18:05:06Z", "2026-11-29T18:05:06Z"},
      {"2026-11-29T18:05:06.123456Z", "2026-11-29T18:05:06.123456Z"},
      {"2026-11-29T18:05:06.5+01:30", "2026-11-29T16:35:06.500000Z"},
      {"2026-11-29", "2026-11-29T00:00:00Z"},
      {"1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999Z"},
      {"2026-02-30T00:00:00Z", nullptr},
      {"2026-11-29T24:00:00Z", nullptr},
      {"2026-11-29T18:05:06", nullptr},
      {"2026-11-29T18:05:06.Z", nullptr},
      {"2026-11-29T18:05:06Zjunk", nullptr},
      {"-026-11-29", nullptr},
      // Why: what a client sends is written again, and four digits say only these years.
      {"0000-01-01", "0000-01-01T00:00:00Z"},
      {"9999-12-31T23:59:60-00:00", nullptr},
      {"9999-12-31T23:59:59.9999999Z", "9999-12-31T23:59:59.999999Z"},
      {"9999-12-31T23:59:59-00:01", nullptr},
      {"0000-01-01T00:00:00+00:01", nullptr},
      {"", nullptr},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const auto time = from_rfc3339(row.text);
    REQUIRE(time.has_value() == (row.want != nullptr));
    if (time) CHECK(to_rfc3339(*time) == row.want);
  }
}

TEST_CASE("json: hostile documents give an error with its place") {
  CHECK(parse_json(std::string(1'000'000, '[')).error().message.find("nested deeper") != std::string::npos);
  CHECK(parse_json("{\"a\": }").error().message.find("byte 7") != std::string::npos);
  CHECK(parse_json("").error().code == ErrorCode::bad_body);
  CHECK(dump(Json("a\xff")) == "\"a\xEF\xBF\xBD\"");
}

TEST_CASE("json: the reader names missing, mistyped and unknown keys") {
  const auto json = parse_json(R"({"n": "x", "u": 1, "big": 18446744073709551615})");
  REQUIRE(json);
  ObjectReader mistyped(*json);
  (void)mistyped.integer("n");
  CHECK(mistyped.error()->message == "n: an integer was expected");
  ObjectReader too_big(*json);
  (void)too_big.maybe_integer("big");
  CHECK(too_big.error()->message == "big: an integer was expected");
  ObjectReader unknown(*json);
  (void)unknown.text("n");
  unknown.finish();
  CHECK(unknown.error()->message == "u: unknown key");
  ObjectReader missing(*json);
  (void)missing.text("absent");
  CHECK(missing.error()->message == "absent: missing");
}
