// For: whether two runs are of one program: kernels, launches, communication. A run of another program is no
// regression of this one.
// Not for: whether two runs may be compared at all (machine, window, ranks: server/pipeline).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "gate/explanation.hpp"
#include "gate/run_side.hpp"

namespace traceweir::gate {

/// How unlike two programs may be and still be one. Why these: docs/decisions/029.
struct IdentityLimits {
  double foreign_kernels = 0.5;  ///< share of compute time in kernels that the other run does not have
  double launches = 2;           ///< times as many kernels a step, or as few
  double bytes = 1.5;            ///< times as many bytes communicated a step
  double calls = 3;              ///< times as many calls a step, of one kind of communication
  double lone_kind = 0.1;        ///< share of a run's calls that a kind must have to be missed in the other run
};

/// How unlike two programs are. Nothing: one of the runs does not tell.
struct IdentityDistance {
  std::optional<double> foreign_kernels;     ///< the larger of both sides
  std::optional<double> launches;            ///< ratio, at least 1
  std::optional<double> bytes;               ///< ratio, at least 1; of the kinds that both runs have
  std::optional<double> calls;               ///< ratio, at least 1; of the kind that changed most
  std::map<std::string, double> lone_kinds;  ///< kind of communication that only one run has → share of its calls
};
IdentityDistance identity_distance(const RunSide& base, const RunSide& head);

/// Nothing: it is the same program.
std::optional<WorkloadChange> workload_change(const RunSide& base, const RunSide& head,
                                              const IdentityLimits& limits = {});

}  // namespace traceweir::gate
