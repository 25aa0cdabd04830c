// Asks: what does the gate find, and does it say so truly? The tables are those of docs/gate.md.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <iostream>
#include <string>
#include <vector>

#include "tests/simulation/job.hpp"

using namespace traceweir;
using namespace traceweir::gate;
using namespace traceweir::gate::simulated;

namespace {

/// P(fails) of a run that is worse by `shift`: of the pooled noise, and of the t prediction test on the same histories.
struct Power {
  Share ours, t;
  Share margin;  ///< ours − 0.95 · t
};

Power power(const SimulatedJob& job, const Past& past, double shift, std::uint64_t seed) {
  simulated::Noise noise(seed);
  const Policy pooled = rules(job.kind, 1, "worse_by = \"0%\""),
               own = rules(job.kind, 1, "worse_by = \"0%\"\nnoise = \"t\"");
  Power out;
  for (int i = 0; i < trials(80, 5000); ++i) {
    const Baseline baseline = simulated::baseline_of(job, past, 1, noise);
    const JudgedRun run = simulated::run_of(job, 1, noise);
    const auto found = [&](const Policy& policy) {
      const auto at = judge_one(run, baseline, policy).rules.front().fails_at;
      return at ? job.worse_than(*at, shift) : 0.0;
    };
    const double ours = found(pooled), t = found(own);
    out.ours.add(ours);
    out.t.add(t);
    out.margin.add(ours - 0.95 * t);
  }
  return out;
}

}  // namespace

// Why: a gate that never cries wolf because it sees nothing is worth nothing. The t prediction test on the current
// segment is what a careful person would do by hand; with one segment both see the same runs.
TEST_CASE("simulation: power against the t prediction test") {
  std::uint64_t seed = 3000;
  for (const std::size_t segments : {std::size_t{3}, std::size_t{1}}) {
    std::cout << fmt::format("\nfound on one run, {} segment{}\n\n", segments, segments == 1 ? "" : "s")
              << "| metrics | noise | CV | worse by | runs | found | t test |\n|---|---|---|---|---|---|---|\n";
    for (const Kind& kind : kinds())
      for (const Shape shape : shapes)
        for (const double cv : cvs)
          for (const double shift : {0.05, 0.1, 0.2})
            for (const std::size_t runs : lengths) {
              if (runs < 8) continue;
              const Power got = power({kind, shape, cv}, {runs, segments, {}}, shift, ++seed);
              const bool shown = kind.name == "times" && shape == Shape::log_normal && cv == 0.03;
              // Below one in a hundred both find nothing, and the ratio is noise.
              const bool too_weak = got.t.mean() > 0.01 && got.margin.mean() + 3 * got.margin.error() < 0;
              if (shown || too_weak)
                std::cout << fmt::format("| {} | {} | {:.0f} % | {:.0f} % | {} | {:.1f} % | {:.1f} % |\n", kind.name,
                                         name_of(shape), cv * 100, shift * 100, runs, got.ours.mean() * 100,
                                         got.t.mean() * 100);
              CAPTURE(kind.name);
              CAPTURE(name_of(shape));
              CAPTURE(cv);
              CAPTURE(shift);
              CAPTURE(runs);
              CHECK_FALSE(too_weak);
              if (shown) CHECK(got.ours.mean() >= 0.95 * got.t.mean());
              if (runs == 100 && cv == 0.03 && shift == 0.1) CHECK(got.ours.mean() >= 0.51);
            }
  }
}

namespace {

/// Share of commits that fail where a commit is run again as long as the verdict asks for it.
Share found_confirmed(const SimulatedJob& job, const Policy& policy, double shift, int count, std::uint64_t seed) {
  simulated::Noise noise(seed);
  Share failed;
  for (int i = 0; i < count; ++i) {
    const Baseline baseline = simulated::baseline_of(job, {100, 3, {}}, 1, noise);
    std::vector<JudgedRun> commit;
    Verdict verdict;
    do {
      commit.push_back(simulated::run_of(job, 1, noise, shift));
      verdict = judge(commit, baseline, policy);
    } while (verdict.rules.front().reason == Reason::needs_confirmation);
    failed.add(verdict.outcome == Outcome::fail ? 1 : 0);
  }
  return failed;
}

}  // namespace

// Why: one more run of a suspicious commit finds four of five changes of 10 %, and fails next to no good commit.
TEST_CASE("simulation: confirm = 2, 34 runs in the segment and 100 in all, CV 3 %, +10 %") {
  std::cout << "\n| metrics | noise | tolerance | found | false fails per metric |\n|---|---|---|---|---|\n";
  std::uint64_t seed = 4000;
  for (const Kind& kind : kinds()) {
    Share found, wrong;
    for (const Shape shape : shapes)
      for (const std::string tolerance : {"0%", "3%", "5%"}) {
        const Policy policy = rules(kind, 1, fmt::format("worse_by = \"{}\"\nconfirm = 2", tolerance));
        const Share here = found_confirmed({kind, shape, 0.03}, policy, 0.1, trials(400, 40000), ++seed);
        const Share none = found_confirmed({kind, shape, 0.03}, policy, 0, trials(400, 40000), ++seed);
        std::cout << fmt::format("| {} | {} | {} | {:.1f} ± {:.1f} % | {:.3f} % |\n", kind.name, name_of(shape),
                                 tolerance, here.mean() * 100, 1.96 * here.error() * 100, none.mean() * 100);
        CAPTURE(kind.name);
        CAPTURE(name_of(shape));
        CHECK(here.mean() + 3 * here.error() >= 0.78);
        found.add(here);
        wrong.add(none);
      }
    CHECK(found.mean() >= 0.78);
    CHECK(wrong.mean() <= 0.003);
  }
}

// Why: "can see +11 % today" is a promise about this baseline.
TEST_CASE("simulation: detectable is the worsening that is found in four of five runs") {
  std::cout << "\n| metrics | runs | detectable, mean | its own 80 % point, mean | ratio |\n|---|---|---|---|---|\n";
  for (const Kind& kind : kinds())
    for (const std::size_t runs : lengths) {
      const SimulatedJob job{kind, kind.better == Better::lower ? Shape::log_normal : Shape::normal, 0.03};
      simulated::Noise noise(5000 + runs);
      const Policy policy =
          rules(kind, 1, kind.name.starts_with("shares") ? "at_least = \"0.4pp\"" : "worse_by = \"2%\"");
      Share said, point;
      for (int i = 0; i < trials(200, 10000); ++i) {
        const RuleResult rule =
            judge_one(simulated::run_of(job, 1, noise), simulated::baseline_of(job, {runs, 3, {}}, 1, noise), policy)
                .rules.front();
        if (!rule.detectable || !rule.fails_at) continue;
        const double worse = kind.better == Better::lower ? 1 : -1;
        said.add(job.deviations(rule.baseline->level + worse * *rule.detectable));
        // 0.8416 standard deviations beyond the threshold, four of five runs are over it.
        point.add(job.deviations(*rule.fails_at) + 0.8416212);
      }
      std::cout << fmt::format("| {} | {} | {:.2f} sd | {:.2f} sd | {:.3f} |\n", kind.name, runs, said.mean(),
                               point.mean(), said.mean() / point.mean());
      CAPTURE(kind.name);
      CAPTURE(runs);
      CHECK(std::abs(said.mean() / point.mean() - 1) <= 0.1);
    }
}

TEST_CASE("simulation: detectable with confirm is within a tenth of where 80 % are found") {
  for (const std::int64_t confirm : {2, 3}) {
    const SimulatedJob job{kinds().front()};
    const Policy policy = rules(job.kind, 1, fmt::format("worse_by = \"3%\"\nconfirm = {}", confirm));
    simulated::Noise noise(6000);
    Share said;
    for (int i = 0; i < trials(100, 2000); ++i) {
      const Baseline baseline = simulated::baseline_of(job, {100, 3, {}}, 1, noise);
      const RuleResult rule = judge_one(simulated::run_of(job, 1, noise), baseline, policy).rules.front();
      said.add(rule.detectable.value() / rule.baseline->level);
    }
    const auto found = [&](double shift) {
      return found_confirmed(job, policy, shift, trials(500, 20000), 6001).mean();
    };
    const double below = found(said.mean() * 0.9), at = found(said.mean()), above = found(said.mean() * 1.1);
    std::cout << fmt::format(
        "\nconfirm = {}: detectable {:.1f} %; found at 0.9, 1, 1.1 of it: {:.0f} %, {:.0f} %, {:.0f} %\n", confirm,
        said.mean() * 100, below * 100, at * 100, above * 100);
    CHECK(below <= 0.8);
    CHECK(above >= 0.8);
  }
}
