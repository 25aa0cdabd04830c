// For: a rank of which only sums are known (the output of `nsys stats`): how often and how long each kernel and kind of
// copy ran, not when. Not for: spans (timeline.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/core/error.hpp"
#include "analyzer/core/time.hpp"

namespace traceweir::timeline {

enum class Collective : std::uint8_t;
enum class Direction : std::uint8_t;

/// Durations of one name, uncut, of the whole capture. Units: ns. Shape: count > 0.
struct DurationSum {
  std::string name;
  std::int64_t count = 0;
  Nanos total{};
  std::optional<Nanos> min, max;
  std::optional<double> median;  ///< ns; newer releases print it
};

struct KernelSum {
  DurationSum durations;
  std::optional<Collective> collective;  ///< nothing: no communication
};

/// Copies of one kind. `bytes`: as printed, so rounded to the third decimal of its unit. Memsets have no direction.
struct CopySum {
  DurationSum durations;
  Direction direction;
  bool peer = false;  ///< from one device to another
};
struct CopyBytes {
  std::string name;
  Direction direction;
  std::int64_t count = 0;
  double bytes = 0;
};

/// The tables that were given. Nothing: that table is not there; an empty one says that nothing of the kind ran.
struct Sums {
  std::optional<std::vector<KernelSum>> kernels;
  std::optional<std::vector<CopySum>> copies;
  std::optional<std::vector<CopyBytes>> copy_bytes;
};

/// Adds the tables of another file of the same capture. Errors: malformed_trace (both have the same table).
Result<void> add_tables(Sums& to, Sums from);

}  // namespace traceweir::timeline
