// Recording uploads and results, and reading them again.
#include <limits>
#include <thread>

#include "tests/contract/samples.hpp"
#include "tests/contract/store_under_test.hpp"

using namespace traceweir;
using namespace traceweir::contract;
using namespace traceweir::store;

TEST_CASE("store: a run is kept with every field, before and after its result") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    const Begun begun = must(store->begin_run(full_head("r1"), upload_of("blob1")));
    CHECK(begun.run == "r1");
    CHECK(begun.state == Begun::State::created);

    RunRecord want;
    want.head = full_head("r1");
    want.uploads = {upload_of("blob1")};
    CHECK(text_of(must(store->run("llama", "r1")).value()) == text_of(want));

    must(store->finish_run(full_result("r1")));
    want.status = RunStatus::judged;
    want.outcome = gate::Outcome::fail;
    want.comparable_key = "a100";
    want.in_baseline = true;
    want.report_json = full_result("r1").report_json;
    want.verdict_json = full_result("r1").verdict_json;
    want.error_code = "analysis_failed";
    want.error_message = "killed by signal 9";
    want.finished_at = at(60);
    CHECK(text_of(must(store->run("llama", "r1")).value()) == text_of(want));
  });
}

TEST_CASE("store: what is not stated stays not stated") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    must(store->begin_run(plain_head("r1"), upload_of("blob1")));
    must(store->begin_run(plain_head("r2"), upload_of("blob1")));  // no key: always a new run
    RunResult rejected;
    rejected.run = "r1";
    rejected.status = RunStatus::rejected;
    rejected.error_code = "not_a_trace";
    rejected.error_message = "no traceEvents";
    rejected.finished_at = at(2);
    must(store->finish_run(rejected));

    RunRecord want;
    want.head = plain_head("r1");
    want.uploads = {upload_of("blob1")};
    want.status = RunStatus::rejected;
    want.error_code = "not_a_trace";
    want.error_message = "no traceEvents";
    want.finished_at = at(2);
    CHECK(text_of(must(store->run("llama", "r1")).value()) == text_of(want));
  });
}

TEST_CASE("store: a run is only found under its own project and id") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    add_project(*store, "bert");
    must(store->begin_run(plain_head("r1"), upload_of("blob1")));
    CHECK(must(store->run("llama", "r1")).has_value());
    CHECK_FALSE(must(store->run("bert", "r1")).has_value());
    CHECK_FALSE(must(store->run("llama", "r2")).has_value());
    CHECK_FALSE(must(store->run("", "r1")).has_value());
  });
}

TEST_CASE("store: what is refused of runs leaves nothing behind") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    CHECK(error_of(store->begin_run(plain_head("r1"), upload_of("blob1"))) == ErrorCode::not_found);
    add_project(*store);
    CHECK(error_of(store->finish_run(plain_result("r1"))) == ErrorCode::not_found);
    add_run(*store, plain_head("r1"), plain_result("r1", 0.9));

    CHECK(error_of(store->begin_run(plain_head("r1"), upload_of("blob2"))) == ErrorCode::conflict);
    CHECK_FALSE(must(store->blob_in_use("blob2")));
    RunResult second = plain_result("r1", 0.1);
    second.outcome = gate::Outcome::fail;
    CHECK(error_of(store->finish_run(second)) == ErrorCode::conflict);
    CHECK(must(store->run("llama", "r1")).value().outcome == gate::Outcome::pass);
    const auto points = must(store->history({"llama", "ddp", "main", "gpu.utilization", 10}));
    REQUIRE(points.size() == 1);
    CHECK(points[0].value == 0.9);
  });
}

TEST_CASE("store: a result that cannot be kept whole is not kept at all") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    must(store->begin_run(plain_head("r1"), upload_of("blob1")));
    RunResult result = plain_result("r1");
    result.values = {{"gpu.utilization", 0.9}, {"gpu.idle", 0.1}, {"gpu.utilization", 0.8}};  // one metric twice
    CHECK(error_of(store->finish_run(result)) == ErrorCode::internal);
    result.values = {{"gpu.utilization", std::numeric_limits<double>::quiet_NaN()}};
    CHECK(error_of(store->finish_run(result)) == ErrorCode::internal);

    const RunRecord kept = must(store->run("llama", "r1")).value();
    CHECK(kept.status == RunStatus::analysing);
    CHECK(kept.report_json.empty());
    CHECK(must(store->history({"llama", "ddp", "main", "gpu.idle", 10})).empty());
    must(store->finish_run(plain_result("r1")));  // the store works on
  });
}

TEST_CASE("store: an idempotency key gives the same run again, or is refused with another body") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    add_project(*store, "bert");
    RunHead head = plain_head("r1");
    head.idempotency_key = "k";
    CHECK(must(store->begin_run(head, upload_of("blob1"))).state == Begun::State::created);

    head.id = "r2";
    const Begun again = must(store->begin_run(head, upload_of("blob1")));
    CHECK(again.state == Begun::State::seen_before);
    CHECK(again.run == "r1");
    CHECK_FALSE(must(store->run("llama", "r2")).has_value());
    CHECK(error_of(store->begin_run(head, upload_of("blob2"))) == ErrorCode::key_reused);
    CHECK_FALSE(must(store->blob_in_use("blob2")));
    // Why: the first run's verdict is none of another commit or workload.
    for (std::string RunHead::*field : {&RunHead::commit, &RunHead::workload}) {
      RunHead other = head;
      other.*field = "elsewhere";
      const auto refused = store->begin_run(other, upload_of("blob1"));
      CHECK(error_of(refused) == ErrorCode::key_reused);
      CHECK(refused.error().message.find("elsewhere") != std::string::npos);
      CHECK_FALSE(must(store->run("llama", "r2")).has_value());
    }

    // Why: keys belong to a project; another project's clients cannot know them.
    head.project = "bert";
    CHECK(must(store->begin_run(head, upload_of("blob2"))).state == Begun::State::created);
    // Why: a retry that comes after the result still gets the first run.
    must(store->finish_run(plain_result("r1")));
    head.project = "llama";
    head.id = "r3";
    CHECK(must(store->begin_run(head, upload_of("blob1"))).run == "r1");
  });
}

TEST_CASE("store: fifty threads with one key make one run") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    constexpr std::size_t count = 50;
    std::vector<Result<Begun>> answers(count, fail(ErrorCode::internal, "not asked"));
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < count; ++i)
      threads.emplace_back([&store, &answers, i] {
        RunHead head = full_head("r" + std::to_string(i));
        head.commit = "the same";
        head.idempotency_key = "one";
        answers[i] = store->begin_run(head, upload_of("blob"));
      });
    for (std::thread& thread : threads) thread.join();

    std::size_t created = 0;
    const std::string first = must(answers[0]).run;
    for (const auto& answer : answers) {
      if (must(answer).state == Begun::State::created) ++created;
      CHECK(answer->run == first);
    }
    CHECK(created == 1);
    CHECK(ids_of(must(store->runs({.project = "llama"}))) == first);
  });
}

TEST_CASE("store: many threads write and read at once, and nothing is lost") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    std::vector<std::string> errors(8);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < errors.size(); ++t)
      threads.emplace_back([&store, &error = errors[t], t] {
        for (int i = 0; i < 20; ++i) {
          const std::string id = std::to_string(t) + "-" + std::to_string(i);
          if (const auto begun = store->begin_run(full_head(id), upload_of(id)); !begun) error = begun.error().message;
          if (const auto done = store->finish_run(full_result(id)); !done) error = done.error().message;
          const auto read = store->run("llama", id);
          if (!read)
            error = "run " + id + ": " + read.error().message;
          else if (!*read || (*read)->status != RunStatus::judged)
            error = "run " + id + (*read ? " has no result" : " is not there");
        }
      });
    for (std::thread& thread : threads) thread.join();
    for (const std::string& error : errors) CHECK(error == "");
    CHECK(must(store->runs({.project = "llama", .limit = 1'000})).size() == 160);
    CHECK(under_test.damage() == "");
  });
}

TEST_CASE("store: lists go from new to old in order of receipt, page by page, with verdicts and without reports") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    // Why: the clock steps back in between, and ids do not sort by time; the order of receipt stays.
    const std::vector<std::string> ids = {"m", "z", "a", "q", "b"};
    for (std::size_t i = 0; i < ids.size(); ++i) {
      RunHead head = full_head(ids[i]);
      head.received_at = at(i == 2 ? -1'000 : static_cast<std::int64_t>(i));
      add_run(*store, head, full_result(ids[i]));
    }
    const auto all = must(store->runs({.project = "llama"}));
    CHECK(ids_of(all) == "b q a z m");
    for (const RunRecord& record : all) {
      CHECK(record.report_json.empty());
      CHECK(record.verdict_json == full_result(record.head.id).verdict_json);
      CHECK(record.head.environment.size() == 2);
      CHECK(record.uploads.size() == 1);
    }
    CHECK(ids_of(must(store->runs({.project = "llama", .limit = 2}))) == "b q");
    CHECK(ids_of(must(store->runs({.project = "llama", .before = "q", .limit = 2}))) == "a z");
    CHECK(ids_of(must(store->runs({.project = "llama", .before = "z", .limit = 2}))) == "m");
    CHECK(must(store->runs({.project = "llama", .before = "m"})).empty());
    // Why: a cursor that means nothing must not look like the last page, nor tell of other projects' runs.
    add_project(*store, "bert");
    RunHead elsewhere = plain_head("elsewhere");
    elsewhere.project = "bert";
    add_run(*store, elsewhere, plain_result("elsewhere"));
    for (const char* before : {"unknown", "elsewhere", "M", "%"}) {
      const auto refused = store->runs({.project = "llama", .before = before});
      CHECK(error_of(refused) == ErrorCode::bad_query);
      CHECK(refused.error().message.starts_with("cursor: "));
    }
    CHECK(ids_of(must(store->runs({.before = "elsewhere", .limit = 1}))) == "b");
    CHECK(error_of(store->runs({.before = "unknown"})) == ErrorCode::bad_query);
    CHECK(must(store->runs({.project = "llama", .limit = 0})).empty());
    CHECK(must(store->runs({.project = "llama", .limit = -1})).empty());
  });
}

TEST_CASE("store: lists are filtered") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    add_project(*store, "bert");
    struct Run {
      const char *id, *project, *branch, *commit, *workload;
      std::optional<gate::Outcome> outcome;
    };
    const Run stored[] = {
        {"r1", "llama", "main", "c1", "ddp", gate::Outcome::pass},
        {"r2", "llama", "main", "c1", "fsdp", gate::Outcome::fail},
        {"r3", "llama", "topic", "c2", "ddp", gate::Outcome::fail},
        {"r4", "bert", "main", "c1", "ddp", gate::Outcome::pass},
        {"r5", "llama", "main", "c3", "ddp", std::nullopt},
    };
    std::int64_t seconds = 0;
    for (const Run& run : stored) {
      RunHead head = plain_head(run.id);
      head.project = run.project;
      head.branch = run.branch;
      head.commit = run.commit;
      head.workload = run.workload;
      head.received_at = at(seconds++);
      RunResult result = plain_result(run.id);
      result.outcome = run.outcome;
      add_run(*store, head, result);
    }
    struct Row {
      RunFilter filter;
      const char* want;
    };
    const Row rows[] = {
        {{.project = "llama"}, "r5 r3 r2 r1"},
        {{.project = ""}, "r5 r4 r3 r2 r1"},
        {{.project = "nowhere"}, ""},
        {{.project = "llama", .branch = "main"}, "r5 r2 r1"},
        {{.project = "llama", .branch = "mai"}, ""},
        {{.project = "llama", .commit = "c1"}, "r2 r1"},
        {{.project = "llama", .workload = "fsdp"}, "r2"},
        {{.project = "llama", .branch = "main", .commit = "c1", .workload = "ddp"}, "r1"},
        {{.project = "llama", .outcome = gate::Outcome::fail}, "r3 r2"},
        {{.project = "llama", .outcome = gate::Outcome::warn}, ""},
        {{.project = "llama", .since = at(1)}, "r5 r3 r2"},
        {{.project = "llama", .until = at(1)}, "r2 r1"},
        {{.project = "llama", .since = at(1), .until = at(2)}, "r3 r2"},
        {{.project = "llama", .branch = "main", .before = "r5"}, "r2 r1"},
        {{.project = "llama", .outcome = gate::Outcome::fail, .before = "r3", .limit = 5}, "r2"},
        {{.project = "llama", .commit_prefix = "c"}, "r5 r3 r2 r1"},
        {{.project = "llama", .commit_prefix = "c1"}, "r2 r1"},
        {{.project = "llama", .workload = "ddp", .before = "r3", .commit_prefix = "c1"}, "r1"},
        {{.project = "llama", .commit_prefix = "1"}, ""},
        {{.project = "llama", .commit_prefix = "c11"}, ""},
    };
    for (std::size_t i = 0; i < std::size(rows); ++i) {
      CAPTURE(i);
      CHECK(ids_of(must(store->runs(rows[i].filter))) == rows[i].want);
    }
  });
}

TEST_CASE("store: the runs of a commit come oldest first with the documents that are asked for") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    add_project(*store, "bert");
    const std::pair<const char*, const char*> runs[] = {{"r2", "ddp"}, {"r1", "fsdp"}, {"r3", "ddp"}};
    for (const auto& [id, workload] : runs) {
      RunHead head = full_head(id);
      head.commit = "c1";
      head.workload = workload;
      add_run(*store, head, full_result(id));
    }
    add_run(*store, full_head("other"), full_result("other"));
    RunHead elsewhere = full_head("elsewhere");
    elsewhere.project = "bert";
    elsewhere.commit = "c1";
    add_run(*store, elsewhere, full_result("elsewhere"));

    for (const Documents documents : {Documents::none, Documents::verdict, Documents::all}) {
      const auto of_ddp = must(store->runs_of_commit("llama", "ddp", "c1", documents));
      CHECK(ids_of(of_ddp) == "r2 r3");
      CHECK(of_ddp.at(1).status == RunStatus::judged);
      CHECK(of_ddp.at(1).report_json == (documents == Documents::all ? full_result("r3").report_json : ""));
      CHECK(of_ddp.at(1).verdict_json == (documents == Documents::none ? "" : full_result("r3").verdict_json));
    }
    CHECK(ids_of(must(store->runs_of_commit("llama", "", "c1", Documents::none))) == "r2 r1 r3");
    CHECK(must(store->runs_of_commit("llama", "ddp", "c9", Documents::none)).empty());
  });
}

TEST_CASE("store: unfinished runs are those without a result, oldest first") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    CHECK(must(store->unfinished_runs()).empty());
    for (const char* id : {"r3", "r1", "r2"}) must(store->begin_run(full_head(id), upload_of(id)));
    must(store->finish_run(plain_result("r1")));
    const auto unfinished = must(store->unfinished_runs());
    CHECK(ids_of(unfinished) == "r3 r2");
    CHECK(text_of(unfinished.at(0).head) == text_of(full_head("r3")));
    CHECK(unfinished.at(0).uploads.at(0).sha256 == "r3");
  });
}

TEST_CASE("store: a blob is in use as soon as an upload refers to it") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    CHECK_FALSE(must(store->blob_in_use("blob1")));
    must(store->begin_run(plain_head("r1"), upload_of("blob1")));
    CHECK(must(store->blob_in_use("blob1")));
    CHECK_FALSE(must(store->blob_in_use("blob")));
  });
}

TEST_CASE("store: runs of one environment class") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    add_run(*store, plain_head("r1"), plain_result("r1"));
    RunResult other = plain_result("r2");
    other.comparable_key = "h100";
    add_run(*store, plain_head("r2"), other);
    must(store->begin_run(plain_head("r3"), upload_of("blob")));
    RunFilter filter;
    filter.project = "llama";
    CHECK(ids_of(must(store->runs(filter))) == "r3 r2 r1");
    filter.environment = "h100";
    CHECK(ids_of(must(store->runs(filter))) == "r2");
    filter.environment = "h100' OR '1' = '1";
    CHECK(must(store->runs(filter)).empty());
  });
}
