// The outcome of a commit: what counts, and that absence of data is never a pass.
#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "server/api/run_answer.hpp"

using namespace traceweir;
using gate::Outcome;
using store::RunRecord;
using store::RunStatus;

namespace {

RunRecord run(RunStatus status, std::optional<Outcome> outcome, std::int64_t attempt = 1,
              std::string workload = "ddp") {
  RunRecord record;
  record.status = status;
  record.outcome = outcome;
  record.head.attempt = attempt;
  record.head.workload = std::move(workload);
  record.head.ci_run = "7";
  return record;
}

RunRecord judged(Outcome outcome, std::int64_t attempt = 1, std::string workload = "ddp") {
  return run(RunStatus::judged, outcome, attempt, std::move(workload));
}

RunRecord without(RunStatus status, std::int64_t attempt = 1, std::string workload = "ddp") {
  return run(status, std::nullopt, attempt, std::move(workload));
}

struct Row {
  const char* what;
  std::vector<RunRecord> runs;
  std::optional<Outcome> outcome;
};

void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    CAPTURE(row.what);
    CHECK(api::outcome_of(row.runs) == row.outcome);
  }
}

}  // namespace

TEST_CASE("outcome: the latest of each workload, the worst over workloads") {
  check({{"no run", {}, std::nullopt},
         {"one", {judged(Outcome::warn)}, Outcome::warn},
         {"the latest sample", {judged(Outcome::fail), judged(Outcome::pass)}, Outcome::pass},
         {"the worst workload", {judged(Outcome::fail, 1, "a"), judged(Outcome::pass, 1, "b")}, Outcome::fail}});
}

TEST_CASE("outcome: runs that were judged at once: the verdict that was given last knows the others") {
  const auto given = [](RunRecord run, int at) {
    run.finished_at = store::Timestamp(std::chrono::microseconds(at));
    return run;
  };
  check({{"in order", {given(judged(Outcome::fail), 1), given(judged(Outcome::pass), 2)}, Outcome::pass},
         {"the first upload last", {given(judged(Outcome::fail), 2), given(judged(Outcome::pass), 1)}, Outcome::fail},
         {"workloads apart",
          {given(judged(Outcome::fail, 1, "a"), 1), given(judged(Outcome::pass, 1, "b"), 2)},
          Outcome::fail}});
}

TEST_CASE("outcome: a superseded attempt does not count, in whatever order the attempts come") {
  RunRecord late = judged(Outcome::fail);
  late.superseded = true;
  check({{"the lower one late", {judged(Outcome::pass, 2), late}, Outcome::pass},
         {"the lower one late and not marked yet", {judged(Outcome::pass, 2), judged(Outcome::fail)}, Outcome::pass},
         {"the lower one late and on its way", {judged(Outcome::pass, 2), without(RunStatus::pending)}, Outcome::pass},
         {"the lower one late and rejected", {judged(Outcome::pass, 2), without(RunStatus::rejected)}, Outcome::pass},
         {"in order", {late, judged(Outcome::pass, 2)}, Outcome::pass},
         {"of another workload", {judged(Outcome::pass, 2), judged(Outcome::fail, 1, "b")}, Outcome::fail}});
}

TEST_CASE("outcome: a workload whose latest run has no verdict is never a pass") {
  for (const RunStatus status : {RunStatus::pending, RunStatus::analysing, RunStatus::rejected})
    check({{"after a pass", {judged(Outcome::pass), without(status)}, Outcome::inconclusive},
           {"after a fail", {judged(Outcome::fail), without(status)}, Outcome::fail},
           {"a higher attempt", {judged(Outcome::pass), without(status, 2)}, Outcome::inconclusive},
           {"a higher attempt that came first", {without(status, 2), judged(Outcome::pass)}, Outcome::inconclusive},
           {"another workload", {judged(Outcome::pass), without(status, 1, "b")}, Outcome::inconclusive},
           {"another workload failed", {judged(Outcome::fail), without(status, 1, "b")}, Outcome::fail},
           {"a pass after it", {without(status), judged(Outcome::pass)}, Outcome::pass}});
}

TEST_CASE("outcome: without any verdict it is null as long as one may still come") {
  check({{"pending", {without(RunStatus::pending)}, std::nullopt},
         {"analysing", {without(RunStatus::analysing)}, std::nullopt},
         {"rejected", {without(RunStatus::rejected)}, Outcome::inconclusive},
         {"rejected, and another on its way",
          {without(RunStatus::rejected, 1, "a"), without(RunStatus::pending, 1, "b")},
          std::nullopt}});
}
