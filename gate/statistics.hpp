// For: the numbers that judging needs: moments, quantiles, ranks, and two distributions.
// Not for: what a metric's history means (history.hpp) or what is tolerated (judge.hpp).
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace traceweir::gate {

/// Shape: not empty.
double mean(std::span<const double> values);

/// Σ(x − centre)² / (n − 1). Shape: at least two values.
double variance_about(std::span<const double> values, double centre);

/// Linear interpolation at rank p·(n − 1) of the sorted values (type 7). Shape: not empty, p in [0, 1].
double quantile(std::vector<double> values, double p);
double median(std::vector<double> values);

/// Median of the distances from the median, not scaled. Shape: not empty.
double median_deviation(const std::vector<double>& values);
/// Makes a median deviation of normal values an estimate of their standard deviation.
inline constexpr double normal_mad_factor = 1.4826;

/// P(X > x) of the standard normal distribution: exact far out, where 1 − Φ would be 0.
double normal_tail(double x);
/// The x with P(X <= x) = p. Shape: 0 < p < 1.
double normal_quantile(double p);
/// The x with P(X > x) = tail of Student's t. Shape: 0 < tail < 1, degrees >= 1.
double student_upper(double tail, double degrees);
/// P(X > x) of Student's t. Shape: degrees >= 1; x may be infinite.
double student_tail(double x, double degrees);

/// Exact one-sided Mann–Whitney U test: the probability, with equal distributions, that `above` ranks at least as high
/// above `below` as it does. Ties get middle ranks, and the distribution is that of these ranks.
/// Shape: neither is empty; above.size()·below.size() <= mann_whitney_pairs_max.
/// Cost:  O((m + n)·min(m, n)·rank sum).
double mann_whitney_above(std::span<const double> above, std::span<const double> below);
/// The smallest p that these sizes can reach: 1 / C(m + n, m).
double mann_whitney_least(std::size_t m, std::size_t n);
/// More pairs than this are not tested exactly: the cost grows with their square.
inline constexpr std::size_t mann_whitney_pairs_max = 3000;

/// The factor c(n) that makes a band from the median deviation of n values hold its false-alarm rate; n >=
/// mad_runs_min. Source: simulation, reproduced by tests/property/gate/mad_factor_test.cpp; docs/gate.md, "mad".
double mad_factor(std::size_t n);
inline constexpr std::size_t mad_runs_min = 4;

}  // namespace traceweir::gate
