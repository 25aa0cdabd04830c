#include "gate/lane_backtest.hpp"

#include <doctest/doctest.h>

#include <ctime>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/unit/gate/cases.hpp"

using namespace traceweir;
using namespace traceweir::gate;
using namespace traceweir::gate::cases;

namespace {

/// A branch of runs, each of a commit of its own whose parent is the one before.
struct Lane {
  std::vector<PastRun> runs;
  std::unordered_map<std::string, std::string> parents;

  PastRun& add(double value) {
    PastRun past;
    past.run = run_of(step, value);
    past.run.id = "run" + std::to_string(runs.size());
    past.commit = "c" + std::to_string(runs.size());
    past.environment = "gpu=X";
    if (!runs.empty()) parents[past.commit] = runs.back().commit;
    runs.push_back(past);
    return runs.back();
  }
  void add_level(double level, int count) {
    for (int i = 0; i < count; ++i) add(level * (i % 2 == 0 ? 1.002 : 0.998));
  }
  [[nodiscard]] LaneBacktest tried(const std::string& toml = step_5) const {
    const Policy policy = policy_of(toml);
    return backtest_lane({policy, runs, parents, "main"});
  }
};

LaneRule only_rule_of(const LaneBacktest& test) {
  REQUIRE(test.rules.size() == 1);
  return test.rules.front();
}

}  // namespace

TEST_CASE("backtest of runs: one bad run is an alarm that recovers") {
  Lane lane;
  lane.add_level(100e6, 10);
  lane.add(130e6);
  lane.add_level(100e6, 10);
  const LaneBacktest test = lane.tried();
  const LaneRule rule = only_rule_of(test);
  CHECK(test.runs == 21);
  CHECK(test.judged == 16);  // five were learning
  CHECK(test.failed_commits == 1);
  CHECK(rule.judged == 16);
  CHECK(rule.failed == 1);
  CHECK(rule.alarms == 1);
  CHECK(rule.recovered == 1);
  CHECK(rule.commits == std::vector<std::string>{"c10"});
  CHECK(rule.runs == std::vector<std::string>{"run10"});
}

// Why: a run that fails must not become what later runs are compared with.
TEST_CASE("backtest of runs: a level that got worse fails until it is mended, and that was no false alarm") {
  Lane lane;
  lane.add_level(100e6, 10);
  lane.add_level(120e6, 8);
  lane.add_level(100e6, 8);
  const LaneRule rule = only_rule_of(lane.tried());
  CHECK(rule.failed == 8);
  CHECK(rule.alarms == 1);
  CHECK(rule.recovered == 0);
}

TEST_CASE("backtest of runs: an accepted level is the baseline from its run on") {
  Lane lane;
  lane.add_level(100e6, 10);
  lane.add(120e6).accepted = {step};
  lane.add_level(120e6, 8);
  lane.add(150e6);
  const LaneRule rule = only_rule_of(lane.tried());
  CHECK(rule.commits == std::vector<std::string>{"c19"});
}

// Why: source is the gate's rule: the baseline is the first-parent ancestors, whatever came in between.
TEST_CASE("backtest of runs: a run is compared with its ancestors, not with what came before it") {
  Lane lane;
  lane.add_level(100e6, 8);
  const std::string fork = lane.runs.back().commit;
  lane.add_level(80e6, 8);  // much better, on another line
  PastRun& back = lane.add(101e6);
  lane.parents[back.commit] = fork;
  CHECK(only_rule_of(lane.tried()).failed == 0);
  lane.parents.erase(back.commit);  // not known: compared with the newest
  CHECK(only_rule_of(lane.tried()).failed == 1);
}

TEST_CASE("backtest of runs: classes are told apart, and several runs of a commit are its samples") {
  Lane lane;
  lane.add_level(100e6, 8);
  for (int i = 0; i < 3; ++i) lane.add(300e6).environment = "gpu=Y";
  CHECK(only_rule_of(lane.tried()).failed == 0);

  Lane confirmed;
  confirmed.add_level(100e6, 8);
  const std::string commit = confirmed.add(130e6).commit;
  CHECK(only_rule_of(confirmed.tried(step_5 + "confirm = 2\n")).failed == 0);
  confirmed.add(131e6).commit = commit;
  CHECK(only_rule_of(confirmed.tried(step_5 + "confirm = 2\n")).failed == 1);
}

// Why: a level that nobody confirmed, or that was confirmed as a regression, must not become the baseline, in whatever
// order the runs of a commit came.
TEST_CASE("backtest of runs: commits that fail or wait for confirmation are in no baseline with any run") {
  const auto rule_of = [](const std::vector<std::vector<double>>& commits) {
    Lane lane;
    lane.add_level(100e6, 10);
    for (const std::vector<double>& values : commits) {
      const std::string commit = lane.add(values.front()).commit;
      for (std::size_t i = 1; i < values.size(); ++i) {
        PastRun& again = lane.add(values[i]);
        lane.parents.erase(again.commit);
        again.commit = commit;
      }
    }
    return only_rule_of(lane.tried(step_5 + "confirm = 2\n"));
  };
  // Each of these commits is as bad as the first of them, and fails as it did.
  CHECK(rule_of({{140e6, 141e6}, {140e6, 140e6}, {141e6, 139e6}, {140e6, 140e6}}).failed == 4);
  // Nobody confirms anything: nothing fails, and nothing of it is learnt.
  CHECK(rule_of({{140e6}, {140e6}, {140e6}, {140e6}, {140e6, 140e6}}).failed == 1);
  // A commit whose second run makes it fail is not in the baseline with its first one.
  CHECK(rule_of({{100e6, 180e6, 180e6}, {140e6, 140e6}}).failed == 2);
  // One that is cleared counts, and is no obstacle to those that follow.
  CHECK(rule_of({{140e6, 100e6}, {100e6}, {100e6}}).failed == 0);
}

TEST_CASE("backtest of runs: older runs only serve as baseline, and findings count where they are known") {
  Lane lane;
  lane.add_level(100e6, 8);
  for (PastRun& past : lane.runs) past.shown = false;
  lane.add(130e6);
  CHECK(lane.tried().runs == 1);
  CHECK(only_rule_of(lane.tried()).judged == 1);

  const std::string straggler = "[rules]\n[findings.straggler]\n";
  for (PastRun& past : lane.runs) past.shown = true, past.findings_known = false;
  CHECK(lane.tried(straggler).judged == 0);
  lane.runs.back().findings_known = true;
  lane.runs.back().run.findings = {finding_of(FindingCode::straggler, Severity::warning)};
  CHECK(only_rule_of(lane.tried(straggler)).failed == 1);
}

TEST_CASE("backtest of runs: a graph that is a circle ends, and an empty history is none") {
  Lane lane;
  lane.add_level(100e6, 8);
  lane.parents["c0"] = "c7";
  lane.parents["c7"] = "c0";
  CHECK(only_rule_of(lane.tried()).failed == 0);
  CHECK(Lane{}.tried().rules.empty());
  CHECK(Lane{}.tried().runs == 0);
}

TEST_CASE("backtest of runs: 10 000 runs and five rules") {
  Lane lane;
  std::mt19937_64 random{42};
  std::normal_distribution<double> noise{1.0, 0.02};
  const char* metrics[] = {"gpu.utilization", "gpu.idle", "allreduce.time_mean", "comm.exposed_per_step"};
  for (int i = 0; i < 10'000; ++i) {
    JudgedRun& run = lane.add(100e6 * noise(random)).run;
    for (const char* metric : metrics) run.measurements.push_back(measured(metric, 0.5 * noise(random)));
  }
  const std::clock_t begun = std::clock();  // of the processor: others may compute beside us
  const LaneBacktest test = lane.tried("version = 1\n");
  const double seconds = static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
  MESSAGE(seconds, " s, ", test.failed_commits, " commits failed");
  CHECK(test.rules.size() == 5);
  CHECK(test.judged == 9'995);
  CHECK(test.failed_commits < 100);
#ifndef __SANITIZE_ADDRESS__  // a build with sanitizers takes several times as long
  CHECK(seconds < 6);
#endif
}
