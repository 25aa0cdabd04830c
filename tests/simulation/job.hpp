// For: simulated jobs: metrics of a kind, their noise, and histories of such a job in segments. Seeds are fixed.
// Not for: judging them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gate/judge.hpp"
#include "tests/property/gate/noise.hpp"

namespace traceweir::gate::simulated {

enum class Shape { normal, log_normal };

/// Five metrics of one kind: unit and better side decide how they are judged.
struct Kind {
  std::string name;
  std::vector<std::string> metrics;
  Better better;
  double level;
};
const std::vector<Kind>& kinds();

/// A job whose metrics scatter by `cv` of their level, independently of each other.
struct SimulatedJob {
  const Kind& kind;
  Shape shape = Shape::log_normal;
  double cv = 0.03;

  /// A value of a metric that is worse by `shift`.
  [[nodiscard]] double value(Noise& noise, double shift = 0) const;
  /// P(a run's value is worse than `threshold`), its level worse by `shift`.
  [[nodiscard]] double worse_than(double threshold, double shift = 0) const;
  /// ln or not, as the shape has it: how far `threshold` is from the level on the worse side, in standard deviations.
  [[nodiscard]] double deviations(double threshold) const;
};

/// What happens to whole runs: on a bad machine all metrics of a run are worse.
struct Outliers {
  double share = 0, shift = 0.2;
};

/// A baseline of `runs` runs in so many segments of other levels, as equal as they get, the current one the largest.
struct Past {
  std::size_t runs = 30, segments = 3;
  Outliers outliers;
};
Baseline baseline_of(const SimulatedJob& job, const Past& past, std::size_t metrics, Noise& noise);

JudgedRun run_of(const SimulatedJob& job, std::size_t metrics, Noise& noise, double shift = 0);

/// The same rule on the first `metrics` metrics of the kind.
Policy rules(const Kind& kind, std::size_t metrics, const std::string& keys);

/// Trials of a cell: few in every test run, many where TRACEWEIR_SIMULATION is `full`.
int trials(int few, int many);

inline constexpr std::size_t lengths[] = {5, 8, 15, 30, 100};
inline constexpr double cvs[] = {0.01, 0.03, 0.05, 0.08};
inline constexpr Shape shapes[] = {Shape::normal, Shape::log_normal};
std::string_view name_of(Shape shape);

/// A share that was counted or averaged, with its standard error.
struct Share {
  double sum = 0, squares = 0;
  int count = 0;

  void add(double value) { sum += value, squares += value * value, ++count; }
  void add(const Share& more) { sum += more.sum, squares += more.squares, count += more.count; }
  [[nodiscard]] double mean() const { return sum / count; }
  [[nodiscard]] double error() const;
};

inline Verdict judge_one(const JudgedRun& run, const Baseline& baseline, const Policy& policy) {
  return judge(std::vector{run}, baseline, policy);
}

}  // namespace traceweir::gate::simulated
