// The simulation behind the table of c(n) in gate/statistics.cpp, at fewer repetitions: for normal values the band
//   c(n) · 1.4826·MAD · √(1 + 1/n) · T⁻¹(Φ(3); n − 1)
// above the mean of n runs is passed by one new run with probability 1 − Φ(3). The new run needs no drawing: given mean
// and MAD its probability is a normal tail. The table was made in the same way with 6·10⁵ to 2·10⁶ histories a row.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <iostream>
#include <numbers>
#include <vector>

#include "gate/statistics.hpp"
#include "tests/property/gate/noise.hpp"

using namespace traceweir::gate;

namespace {

struct Sample {
  double mean, deviation;
};

std::vector<Sample> samples_of(std::size_t n, std::size_t histories) {
  simulated::Noise noise(n);
  std::vector<Sample> samples;
  std::vector<double> values(n);
  for (std::size_t i = 0; i < histories; ++i) {
    for (double& value : values) value = noise.next();
    samples.push_back({mean(values), normal_mad_factor * median_deviation(values)});
  }
  return samples;
}

double tail_with(const std::vector<Sample>& samples, double width) {
  double sum = 0;
  for (const Sample& sample : samples)
    sum += 0.5 * std::erfc((sample.mean + width * sample.deviation) / std::numbers::sqrt2);
  return sum / static_cast<double>(samples.size());
}

/// The factor that gives the nominal tail on these samples.
double factor_of(const std::vector<Sample>& samples, std::size_t n) {
  const double without =
      std::sqrt(1 + 1 / static_cast<double>(n)) * student_upper(normal_tail(3), static_cast<double>(n - 1));
  double low = 0.5, high = 50;
  for (int i = 0; i < 40; ++i) {
    const double factor = (low + high) / 2;
    (tail_with(samples, factor * without) > normal_tail(3) ? low : high) = factor;
  }
  return high;
}

}  // namespace

TEST_CASE("simulation: the mad factor gives the nominal false alarms") {
  std::cout << "| n | c(n), table | c(n), here |\n|---|---|---|\n";
  for (const std::size_t n : {4U, 5U, 6U, 8U, 10U, 13U, 18U, 22U, 30U, 60U, 100U}) {
    const double here = factor_of(samples_of(n, n <= 10 ? 40000 : 8000), n);
    std::cout << fmt::format("| {} | {:.3f} | {:.3f} |\n", n, mad_factor(n), here);
    CAPTURE(n);
    CHECK(mad_factor(n) == doctest::Approx(here).epsilon(n <= 6 ? 0.12 : 0.05));
  }
}
