// For: reproducible noise. Seeds are fixed: a simulation gives the same table each time.
// Not for: what is made of it (tests/simulation).
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>

namespace traceweir::gate::simulated {

/// Standard normal numbers (Box–Muller), the same on every platform.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : bits_(seed) {}

  double next() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

  /// In (0, 1).
  double uniform() { return (static_cast<double>(bits_() >> 12U) + 0.5) / 4503599627370496.0; }

 private:
  std::mt19937_64 bits_;
};

}  // namespace traceweir::gate::simulated
