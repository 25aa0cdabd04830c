// Asks: how often does the gate cry wolf? The tables are those of docs/gate.md.
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

/// Of commits without any change.
struct FalseAlarms {
  Share failed;   ///< exact for each simulated history: P(a run is beyond fails_at of one of the rules)
  Share counted;  ///< the same, counted
  Share warned;   ///< counted
};

FalseAlarms false_alarms(const SimulatedJob& job, std::size_t runs, std::uint64_t seed, int commits) {
  simulated::Noise noise(seed);
  const std::size_t metrics = job.kind.metrics.size();
  const Policy policy = rules(job.kind, metrics, "worse_by = \"0%\"");
  FalseAlarms out;
  for (int i = 0; i < commits; ++i) {
    const Baseline baseline = simulated::baseline_of(job, {runs, 3, {}}, metrics, noise);
    const Verdict verdict = judge_one(simulated::run_of(job, metrics, noise), baseline, policy);
    double none_fails = 1;
    for (const RuleResult& rule : verdict.rules)
      if (rule.fails_at) none_fails *= 1 - job.worse_than(*rule.fails_at);
    out.failed.add(1 - none_fails);
    out.counted.add(verdict.outcome == Outcome::fail ? 1 : 0);
    out.warned.add(verdict.outcome == Outcome::warn ? 1 : 0);
  }
  return out;
}

std::string cell(const FalseAlarms& got) {
  return fmt::format("{:.2f} ± {:.2f} %, {:.1f} %", got.failed.mean() * 100, 1.96 * got.failed.error() * 100,
                     got.warned.mean() * 100);
}

}  // namespace

// Why: teams disarm a gate that cries wolf; at most one commit of a hundred may fail by noise alone, one of seven warn.
TEST_CASE("simulation: false alarms of five independent metrics, history in three segments, tolerance 0") {
  std::uint64_t seed = 1000;
  for (const Kind& kind : kinds()) {
    std::cout << fmt::format("\n{}: fails per commit, warns\n\n| noise | CV |", kind.name);
    for (const std::size_t runs : lengths) std::cout << fmt::format(" {} runs |", runs);
    std::cout << "\n|---|---|---|---|---|---|---|\n";
    Share warned, counted;
    for (const Shape shape : shapes)
      for (const double cv : cvs) {
        std::cout << fmt::format("| {} | {:.0f} % |", name_of(shape), cv * 100);
        for (const std::size_t runs : lengths) {
          const FalseAlarms got =
              false_alarms({kind, shape, cv}, runs, ++seed, runs < 15 ? trials(2000, 20000) : trials(500, 20000));
          std::cout << " " << cell(got) << " |" << std::flush;
          CAPTURE(kind.name);
          CAPTURE(name_of(shape));
          CAPTURE(cv);
          CAPTURE(runs);
          CHECK(got.failed.mean() <= 0.01);
          CHECK(got.counted.mean() - 3 * got.counted.error() <= 0.01);
          CHECK(got.warned.mean() - 3 * got.warned.error() <= 0.14);
          warned.add(got.warned.mean());
          counted.add(got.counted.mean());
        }
        std::cout << "\n";
      }
    CHECK(warned.mean() <= 0.14);
    CHECK(counted.mean() <= 0.01);
  }
}

namespace {

/// A commit without a change of its own, whose first run is on a bad machine or not; the second run is on another one.
/// Returns 1 where it fails.
double fails(const SimulatedJob& job, const Past& past, const Policy& policy, double first_shift,
             simulated::Noise& noise) {
  const std::size_t metrics = job.kind.metrics.size();
  const Baseline baseline = simulated::baseline_of(job, past, metrics, noise);
  std::vector<JudgedRun> commit{simulated::run_of(job, metrics, noise, first_shift)};
  Verdict verdict = judge(commit, baseline, policy);
  while (verdict.outcome == Outcome::inconclusive && commit.size() < 5) {
    const bool bad = noise.uniform() < past.outliers.share;
    commit.push_back(simulated::run_of(job, metrics, noise, bad ? past.outliers.shift : 0));
    verdict = judge(commit, baseline, policy);
  }
  return verdict.outcome == Outcome::fail ? 1 : 0;
}

/// Share of commits that fail: bad and good first runs are drawn apart, so that few trials tell much.
struct Mixed {
  Share bad, good;
  double share = 0;

  [[nodiscard]] double mean() const { return share * bad.mean() + (1 - share) * good.mean(); }
  [[nodiscard]] double error() const { return std::hypot(share * bad.error(), (1 - share) * good.error()); }
};

Mixed with_outliers(const SimulatedJob& job, std::size_t runs, const std::string& keys, std::uint64_t seed,
                    int commits) {
  simulated::Noise noise(seed);
  const Past past{runs, 3, {0.02, 0.2}};
  const Policy policy = rules(job.kind, job.kind.metrics.size(), keys);
  Mixed out;
  out.share = past.outliers.share;
  for (int i = 0; i < commits; ++i) {
    out.bad.add(fails(job, past, policy, past.outliers.shift, noise));
    out.good.add(fails(job, past, policy, 0, noise));
  }
  return out;
}

}  // namespace

// Why: shared machines make whole runs bad, in the baseline too. Nobody is to blame for them twice.
TEST_CASE("simulation: 2 % of the runs are bad as a whole, all five metrics by 20 %, tolerance 0") {
  std::uint64_t seed = 2000;
  for (const std::string keys : {"worse_by = \"0%\"", "worse_by = \"0%\"\nconfirm = 2"}) {
    const bool confirmed = keys.find("confirm") != std::string::npos;
    const double most = confirmed ? 0.01 : 0.032;
    std::cout << fmt::format("\nfails per commit, {}\n\n| metrics | CV |", confirmed ? "confirm = 2" : "one run");
    for (const std::size_t runs : lengths) std::cout << fmt::format(" {} runs |", runs);
    std::cout << "\n|---|---|---|---|---|---|---|\n";
    for (const Kind& kind : kinds())
      for (const double cv : cvs) {
        std::cout << fmt::format("| {} | {:.0f} % |", kind.name, cv * 100);
        for (const std::size_t runs : lengths) {
          const Mixed got = with_outliers({kind, Shape::log_normal, cv}, runs, keys, ++seed,
                                          runs < 15 ? trials(60, 10000) : trials(25, 10000));
          std::cout << fmt::format(" {:.2f} ± {:.2f} % |", got.mean() * 100, 1.96 * got.error() * 100) << std::flush;
          CAPTURE(kind.name);
          CAPTURE(cv);
          CAPTURE(runs);
          CHECK(got.mean() - 3 * got.error() <= most);
        }
        std::cout << "\n";
      }
  }
}
