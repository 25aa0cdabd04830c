// For: which runs may be compared at all. Source: spec of the gate, section 3.
// Not for: finding comparable runs (baseline.hpp).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analyzer/report/report.hpp"

namespace traceweir::pipeline {

/// What must be equal for two runs to be comparable: the environment class (the tuple of `match` values; unknown equals
/// unknown) and how the trace was taken and read (window kind, trace family, graph mode, ranks).
/// Shape: `gpu=NVIDIA H100 80GB HBM3;gpu_count=8;world_size=8;window=steps;family=kineto;graph=none;ranks=8`
std::string comparable_key(const report::Report& report, const std::map<std::string, std::string>& environment,
                           const std::vector<std::string>& match);

}  // namespace traceweir::pipeline
