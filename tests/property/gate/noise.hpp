// For: reproducible noise and histories of simulated runs. Seeds are fixed: a simulation gives the same table each
// time.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "gate/judge.hpp"

namespace traceweir::gate::simulated {

/// Standard normal numbers (Box–Muller), the same on every platform.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : bits_(seed) {}

  double next() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  /// In (0, 1).
  double uniform() { return (static_cast<double>(bits_() >> 12U) + 0.5) / 4503599627370496.0; }

  std::mt19937_64 bits_;
};

enum class Shape { normal, log_normal };

/// How a metric of a simulated job scatters: its level and its coefficient of variation.
struct Job {
  Shape shape = Shape::log_normal;
  double cv = 0.03;
  double level = 50e6;

  [[nodiscard]] double value(Noise& noise, double shift = 0) const {
    const double z = noise.next();
    const double scatter = shape == Shape::log_normal ? std::exp(cv * z) : 1 + cv * z;
    return level * (1 + shift) * scatter;
  }
  /// P(a run's value is above `threshold`), its level moved by `shift`.
  [[nodiscard]] double above(double threshold, double shift = 0) const {
    const double ratio = threshold / (level * (1 + shift));
    const double z = shape == Shape::log_normal ? std::log(ratio) / cv : (ratio - 1) / cv;
    return 0.5 * std::erfc(z / std::numbers::sqrt2);
  }
};

inline const std::vector<std::string> metric_ids = {"step.time_p50", "allreduce.time_mean", "comm.exposed_per_step",
                                                    "allgather.time_mean", "broadcast.time_mean"};

/// `runs` baseline runs in three segments of other levels, as equal as they get, the current one the largest.
inline std::vector<BaselinePoint> history(const Job& job, std::size_t runs, Noise& noise) {
  constexpr double moved[] = {1.0, 1.1, 0.9};
  std::vector<BaselinePoint> points;
  for (std::size_t segment = 0; segment < 3; ++segment) {
    const std::size_t size = runs / 3 + (segment < runs % 3 ? 1 : 0);
    for (std::size_t i = 0; i < size; ++i)
      points.push_back({"r", "c", job.value(noise) * moved[segment], static_cast<std::int64_t>(segment)});
  }
  return points;
}

}  // namespace traceweir::gate::simulated
