// For: the numbers that more than one finding asks of a rank. Not for: thresholds; those stand beside their finding.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analyzer/findings/finding_table.hpp"

namespace traceweir::findings {

/// The value of a metric of this rank; nothing where it was not measured.
std::optional<double> measured(const Case& seen, std::string_view metric);

/// Devices × window length. Units: ns. 0 without a window.
double device_time_ns(const Case& seen);

/// Idle time of one cause, over all devices. Units: ratio of device_time_ns.
double idle_ratio(const Case& seen, IdleCause cause);

/// The cause of most of the idle time; nothing where the rank was never idle.
std::optional<IdleCause> largest_idle_cause(const Case& seen);

/// Steps to divide by: those of the window; the window is one where it has no step count. 1 or more.
std::int64_t steps_or_one(const Case& seen);

/// Per step and device, as metrics are. Without steps: per window and device.
double per_step_and_device(const Case& seen, double sum);

/// Whether `call` starts inside the window and inside a marked step; where no steps are marked, inside the window.
class InSteps {
 public:
  explicit InSteps(const Case& seen);
  [[nodiscard]] bool operator()(const timeline::Call& call) const;

 private:
  Interval window_;
  bool marked_;
  timeline::IntervalSet steps_;
};

}  // namespace traceweir::findings
