// Texts that would break out of SQL, and long ones: stored as they are, or refused; never cut, never executed.
#include <limits>

#include "tests/contract/samples.hpp"
#include "tests/contract/store_under_test.hpp"

using namespace traceweir;
using namespace traceweir::contract;
using namespace traceweir::store;

namespace {

/// A run, a token, a project and a commit whose every text is `text`.
void check_round_trip(Store& store, const std::string& text) {
  Project project;
  project.name = text;
  project.policy = text;
  must(store.put_project(project, {at(0), text, text, text, text}));
  CHECK(must(store.project(text)).value().policy == text);
  CHECK(must(store.audit(text, 1)).at(0).detail == text);

  RunHead head;
  head.id = head.project = head.workload = head.commit = head.branch = text;
  head.base_branch = head.head = head.base = head.ci_run = head.job = head.matrix = head.job_url = text;
  head.run_key = head.idempotency_key = head.steps_glob = head.window = head.policy = head.token = text;
  head.environment = {{text, text}};
  RunResult result = plain_result(text);
  result.report_json = result.verdict_json = result.error_code = result.error_message = result.comparable_key = text;
  result.values = {{text, 1.5}};
  must(store.begin_run(head, {0, text, 1, text}));
  must(store.finish_run(result));

  RunRecord want{
      head, {{0, text, 1, text}}, RunStatus::judged, gate::Outcome::pass, text, true, text, text, text, text, at(60)};
  CHECK(text_of(must(store.run(text, text)).value()) == text_of(want));
  CHECK(must(store.runs({text, text, text, text, {}, {}, {}, "", 10})).size() == 1);
  CHECK(must(store.history({text, text, text, text, 10})).size() == 1);
  const auto baseline = must(store.baseline({text, text, text, text, "", "", {text}, 10}));
  REQUIRE(baseline.size() == 1);
  CHECK(baseline[0].values == std::map<std::string, double>{{text, 1.5}});

  const Commit commit{text, {text + "1"}, at(1), text, text};
  must(store.put_commits(text, std::span(&commit, 1)));
  CHECK(must(store.commit(text, text)).value().subject == text);
  CHECK(must(store.first_parents(text, text, 5)) == std::vector<std::string>{text, text + "1"});
}

}  // namespace

TEST_CASE("store: hostile texts are only texts") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    const char* texts[] = {
        "'; DROP TABLE run; --",
        "\"quoted\" 'quoted' `quoted`",
        "?1 :name @name $1 %s {0} \\' \\",
        "line\nfeed\r\nand\ttab \x1b[31m",
        "%_*[a-z]",
        "../../etc/passwd",
        "<img src=x onerror=alert(1)>",
        "\xe6\xb7\xb1\xe5\xba\xa6 \xf0\x9f\x94\xa5 \xe2\x80\xae",
        " leading and trailing ",
        "1",
        "1e9",
        "NULL",
    };
    for (const char* text : texts) {
      CAPTURE(text);
      check_round_trip(*store, text);
    }
    CHECK(must(store->projects()).size() == std::size(texts));
    CHECK(under_test.damage() == "");
  });
}

TEST_CASE("store: names that differ only in case or in blanks are different names") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    for (const char* name : {"llama", "Llama", "llama ", " llama"}) add_project(*store, name);
    CHECK(must(store->projects()).size() == 4);
    must(store->begin_run(plain_head("r1"), upload_of("blob")));
    CHECK_FALSE(must(store->run("Llama", "r1")).has_value());
    CHECK_FALSE(must(store->run("llama", "R1")).has_value());
  });
}

TEST_CASE("store: a zero byte or broken UTF-8 is kept as it is or refused, never cut") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    using namespace std::string_literals;
    for (const std::string& text : {"before\0after"s, "\xff\xfe broken"s, "\xc0\x80"s, "\xed\xa0\x80"s}) {
      RunHead head = plain_head("run " + text);
      head.job = text;
      if (!store->begin_run(head, upload_of(text))) continue;
      CHECK(text_of(must(store->run("llama", head.id)).value().head) == text_of(head));
    }
    must(store->ready());
  });
}

TEST_CASE("store: documents of a megabyte and more") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    RunHead head = plain_head("r1");
    head.policy = std::string(std::size_t{64} << 10, '#');
    RunResult result = plain_result("r1");
    result.report_json = "{\"x\": \"" + std::string(std::size_t{8} << 20, '\'') + "\"}";
    result.verdict_json = std::string(std::size_t{1} << 20, '\n');
    for (int i = 0; i < 2'000; ++i) result.values.emplace_back("custom.m" + std::to_string(i), i);
    add_run(*store, head, result);
    const RunRecord kept = must(store->run("llama", "r1")).value();
    CHECK(kept.report_json == result.report_json);
    CHECK(kept.verdict_json == result.verdict_json);
    CHECK(kept.head.policy == head.policy);
    CHECK(must(store->baseline({.project = "llama", .workload = "ddp", .branch = "main", .comparable_key = "a100"}))
              .at(0)
              .values.size() == 2'001);
  });
}

TEST_CASE("store: numbers at their limits") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    RunHead head = full_head("r1");
    head.attempt = std::numeric_limits<std::int64_t>::max();
    head.pull_request = std::numeric_limits<std::int64_t>::min();
    head.skip_steps = std::numeric_limits<std::int64_t>::max();
    head.received_at = Timestamp{std::chrono::microseconds{std::numeric_limits<std::int64_t>::min()}};
    RunResult result = full_result("r1");
    result.values = {{"largest", std::numeric_limits<double>::max()},
                     {"infinite", std::numeric_limits<double>::infinity()},
                     {"zero", 0.0},
                     {"exact", 9'007'199'254'740'993.0}};
    add_run(*store, head, result);
    CHECK(text_of(must(store->run("llama", "r1")).value().head) == text_of(head));
    const auto rows =
        must(store->baseline({.project = "llama", .workload = "ddp", .branch = "main", .comparable_key = "a100"}));
    CHECK(rows.at(0).values == std::map<std::string, double>(result.values.begin(), result.values.end()));
  });
}
