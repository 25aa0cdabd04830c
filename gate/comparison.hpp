// For: how the runs of a commit stand against a history, by tolerance and by noise. Source: spec of the gate,
// section 2. Not for: absolute limits, missing data and words (judge_rule.hpp).
#pragma once

#include <optional>
#include <span>

#include "analyzer/core/metric.hpp"
#include "gate/history.hpp"
#include "gate/policy.hpp"
#include "gate/verdict.hpp"

namespace traceweir::gate {

/// In order of weight.
enum class Standing {
  within,       ///< tolerance or noise explains the difference
  better,       ///< improved by more than the tolerance and beyond the noise
  noisy,        ///< worse than the tolerance and nearly beyond the noise, or too few runs of the commit agree
  unconfirmed,  ///< the same, and more runs are wanted before the rule may break
  worse,        ///< the rule is broken
};

/// Shape: `observed` is not empty; `history.runs` >= 1; `side` is not none; unless the rule's noise is none,
///        history.degrees >= 1.
struct ComparisonQuestion {
  const History& history;
  const Rule& rule;
  const MetricInfo& info;
  Better side;
  std::span<const double> observed;  ///< one value per run of the commit, in the metric's unit
};

/// Units: the metric's.
struct Comparison {
  Standing standing = Standing::within;
  double noise_band = 0;             ///< how far above or below the level noise alone reaches, on the worse side
  NoiseBand band;                    ///< the same on both sides; the level alone where the rule's noise is none
  bool unchanged = false;            ///< inside the tolerance, and no further off than one run usually is
  bool nearly_blind = false;         ///< the band is wider than 4 × tolerance
  std::optional<double> detectable;  ///< smallest worsening found with 80 % probability; none: not within its range
  std::optional<double> fails_at;    ///< none: outside what the metric can be
};

Comparison compare(const ComparisonQuestion& question);

/// Whether `a` is above `b` by more than rounding: a value equal to a limit passes.
bool is_above(double a, double b);

/// A band wider than so many tolerances hides what the tolerance was meant to catch.
inline constexpr double blind_tolerances = 4;
/// Beyond the band of this one-sided probability a difference is suspicious.
inline constexpr double suspicious_tail = 0.025;
/// With `confirm`, each of the runs that must agree is beyond the band of this one-sided probability by itself.
inline constexpr double agreeing_tail = 0.05;
/// The probability that `detectable` speaks of.
inline constexpr double detection_power = 0.8;
/// The exact rank test needs so many runs on both sides.
inline constexpr std::size_t rank_test_runs_min = 5;

}  // namespace traceweir::gate
