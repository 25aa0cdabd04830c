// For: why a device was idle, nanosecond by nanosecond. Source: spec of metrics, section 8.
// Not for: what it did when it was not (attribution).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>

#include "analyzer/findings/attribution.hpp"
#include "analyzer/findings/host_activity.hpp"
#include "analyzer/findings/wide.hpp"

namespace traceweir::findings {

/// A time in which a device had nothing to do, as it was (not cut to the window), and what ended it.
struct Gap {
  Interval span;                         ///< from Nanos::min() before the first work, to Nanos::max() after the last
  Interval counted;                      ///< the part inside the window; not empty
  const timeline::Work* next = nullptr;  ///< the work that starts at its end; of several the one launched first
};

/// Adds up idle time by cause and phase.
class IdleLedger {
 public:
  explicit IdleLedger(const metrics::RankView& view) : timeline_(*view.timeline), host_(view) {}

  void add(const Gap& gap);

  /// Of all gaps added so far. Units: ns, keyed by cause and phase.
  [[nodiscard]] const std::map<std::pair<IdleCause, std::uint32_t>, Wide>& sums() const { return sums_; }
  /// The same by cause alone, since the last call of take_causes.
  std::map<IdleCause, Nanos> take_causes();

  [[nodiscard]] const std::string& phase_name(std::uint32_t phase) const { return host_.phase_name(phase); }

 private:
  void book(IdleCause cause, std::uint32_t phase, Interval part);

  const timeline::Timeline& timeline_;
  HostActivity host_;
  using Sums = std::map<std::pair<IdleCause, std::uint32_t>, Wide>;
  Sums sums_;
  Sums::value_type* last_ = nullptr;  ///< what was booked last
  std::array<Nanos, 5> causes_{};     ///< by IdleCause
};

}  // namespace traceweir::findings
