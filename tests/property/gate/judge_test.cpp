#include "gate/judge.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "tests/unit/gate/cases.hpp"

using namespace traceweir;
using namespace traceweir::gate;
using namespace traceweir::gate::cases;

namespace {

constexpr const char* metric = "step.time_p50";

/// A baseline of 1 to 30 values in up to three segments, and one to six runs of a commit, all near each other.
struct Situation {
  std::vector<BaselinePoint> points;
  std::vector<double> observed;
  std::string rule;
};

rc::Gen<double> near(int spread) {
  return rc::gen::map(rc::gen::inRange(-spread, spread + 1),
                      [](int thousandths) { return 1e6 * (1 + thousandths / 1000.0); });
}

Situation any_situation() {
  Situation s;
  const int spread = *rc::gen::element(0, 1, 20, 300);
  const auto count = static_cast<std::size_t>(*rc::gen::inRange(1, 31));
  for (std::size_t i = 0; i < count; ++i)
    s.points.push_back({"r" + std::to_string(i), "c", *near(spread), static_cast<std::int64_t>(3 * i / count)});
  s.observed = *rc::gen::resize(6, rc::gen::nonEmpty(rc::gen::container<std::vector<double>>(near(300))));
  s.rule = *rc::gen::element<std::string>("worse_by = \"5%\"", "worse_by = \"0%\"\nnoise = \"t\"",
                                          "worse_by = \"5%\"\nconfirm = 2", "worse_by = \"10%\"\nnoise = \"mad\"",
                                          "worse_by = \"1%\"\nnoise = \"none\"");
  return s;
}

Verdict judged(const Situation& s) {
  Baseline baseline = baseline_of(metric, {});
  baseline.series[metric] = s.points;
  std::vector<JudgedRun> runs;
  for (const double value : s.observed) runs.push_back(run_of(metric, value));
  return judge(runs, baseline,
               policy_of("[rules.\"step.time_p50\"]\n" + s.rule + "\n[baseline]\nmin_runs = 1\nruns = 100\n"));
}

bool same(const Verdict& a, const Verdict& b) {
  const RuleResult &x = a.rules.front(), &y = b.rules.front();
  return a.summary == b.summary && x.reason == y.reason && x.observed == y.observed && x.delta == y.delta &&
         x.detectable == y.detectable && x.fails_at == y.fails_at && x.next == y.next;
}

void holds(const std::function<void()>& property) { CHECK(rc::check(property)); }

}  // namespace

TEST_CASE("judge: the same values give the same verdict, to the bit") {
  holds([] {
    const Situation s = any_situation();
    RC_ASSERT(same(judged(s), judged(s)));
  });
}

// Why: uploads arrive out of order; where all runs count, their order must not.
TEST_CASE("judge: the order of baseline values does not matter") {
  holds([] {
    const Situation s = any_situation();
    Situation turned = s;
    // Values are swapped inside their segments; ids stay where they are, as they name the newest and the oldest.
    for (std::size_t i = 0; i + 1 < turned.points.size(); ++i)
      if (turned.points[i].segment == turned.points[i + 1].segment && *rc::gen::arbitrary<bool>())
        std::swap(turned.points[i].value, turned.points[i + 1].value);
    RC_ASSERT(same(judged(s), judged(turned)));
  });
}

// Why: a job that is ten times as long has the same verdict: durations are compared by their ratios.
TEST_CASE("judge: scaling all values changes nothing on the logarithmic scale") {
  holds([] {
    const Situation s = any_situation();
    const double factor = *rc::gen::element(0.001, 0.5, 8.0, 1000.0);
    Situation scaled = s;
    for (BaselinePoint& point : scaled.points) point.value *= factor;
    for (double& value : scaled.observed) value *= factor;
    const RuleResult a = judged(s).rules.front(), b = judged(scaled).rules.front();
    RC_ASSERT(a.reason == b.reason);
    RC_ASSERT(a.detectable.has_value() == b.detectable.has_value());
    if (a.detectable) RC_ASSERT(std::abs(*b.detectable / factor / *a.detectable - 1) < 1e-6);
  });
}

// Why: a run that is worse still cannot be judged better.
TEST_CASE("judge: a worse value never has a better outcome") {
  holds([] {
    Situation s = any_situation();
    s.observed = {*near(300)};
    Situation worse = s;
    worse.observed[0] *= 1 + 0.001 * *rc::gen::inRange(1, 500);
    const auto weight = [](const Verdict& verdict) {
      const Reason reason = verdict.rules.front().reason;
      constexpr Reason order[] = {Reason::better, Reason::within, Reason::worse_within_noise,
                                  Reason::needs_confirmation, Reason::worse};
      return std::find(std::begin(order), std::end(order), reason) - std::begin(order);
    };
    const Verdict a = judged(s), b = judged(worse);
    if (a.rules.front().reason == Reason::short_baseline) RC_DISCARD("learning");
    RC_ASSERT(weight(a) <= weight(b));
  });
}

// Why: who accepted a level does not want to hear of it at every commit.
TEST_CASE("judge: an accepted level is silent, however long the history") {
  holds([] {
    const double level = 1e6 * *rc::gen::element(1.1, 1.5, 3.0);
    Baseline baseline = baseline_of(metric, {});
    std::vector<BaselinePoint>& points = baseline.series[metric];
    const int since = *rc::gen::inRange(0, 12), before = *rc::gen::inRange(8, 40);
    for (int i = 0; i < since; ++i) points.push_back({"n", "c", level * (*near(4) / 1e6), 0});
    for (int i = 0; i < before; ++i) points.push_back({"o", "c", *near(10), 1});
    baseline.accepted[metric] = {"n", "c", level, "somebody", "", ""};
    const Policy policy = policy_of("[rules.\"step.time_p50\"]\nworse_by = \"5%\"\nmax = \"1.05 ms\"\n");
    const Verdict verdict = judge_one(run_of(metric, level * (*near(4) / 1e6)), baseline, policy);
    RC_ASSERT(verdict.outcome == Outcome::pass || verdict.outcome == Outcome::warn);
    RC_ASSERT(verdict.rules.front().reason == Reason::accepted);
  });
}

// Why: the values come from strangers' files.
TEST_CASE("judge: any numbers at all give a verdict") {
  holds([] {
    Situation s = any_situation();
    for (BaselinePoint& point : s.points)
      if (*rc::gen::arbitrary<bool>()) point.value = *rc::gen::element(0.0, -1.0, 1e-308, 1e150, 1e308, 5e-324);
    for (double& value : s.observed)
      if (*rc::gen::arbitrary<bool>()) value = *rc::gen::element(0.0, -1.0, 1e-308, 1e150, 1e308, 5e-324);
    const Verdict verdict = judged(s);
    RC_ASSERT(!verdict.summary.empty());
    RC_ASSERT(verdict.summary.size() < 600);
  });
}

// Why: a policy comes with an upload; whatever it says, the answer is a policy or a sentence.
TEST_CASE("policy: any text gives a policy or an error") {
  holds([] {
    const auto pieces = *rc::gen::container<std::vector<std::string>>(
        rc::gen::element<std::string>("[rules.\"", "gpu.idle", "\"]\n", "[", "]", "{", "}", "\"", "'", "=", ".",
                                      "max = \"5%\"\n", "worse_by", "\n", "#", "[[rules]]\n", "findings", "1", "\\",
                                      "version = 1\n", "[baseline]\n", "runs = 5\n", "\xff", "1979-05-27", "*"));
    std::string text;
    for (const std::string& piece : pieces) text += piece;
    const Result<Policy> policy = parse_policy(text);
    RC_ASSERT(policy.has_value() || !policy.error().message.empty());
  });
}
